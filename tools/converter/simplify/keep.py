"""Level 0 of --optimize: operators stay operators, so that a device computes what they compute.

1. What decides a shape, and the conditions and rounds of If and Loop, is computed at conversion
   as far as it follows from constants: no lowering can do without it.
2. Every other node is hidden from constant folding behind a domain of its own.
3. What the sequence rules find out about their lists becomes the operator Given, which says on
   the device how many tensors it is given.
"""

from __future__ import annotations

import onnx
from onnx import helper

from ..own import Operators
from ..protos import bodies_of, copied, nodes_of, set_all

_HIDDEN = "mpconnxr.kept."  # before a node's domain while constants are folded
DOMAIN = "mpconnxr"  # of Given
# Inputs that a lowering needs besides those that fix a shape.
_CONTROL = {"If": (0,), "Loop": (0, 1)}


def declare(model: onnx.ModelProto) -> None:
    """Lets a model have the operator Given."""
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))


def undeclared(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy that does not import the domain of Given, unless it has such nodes."""
    copy = copied(model)
    domains = {node.domain for node in copy.graph.node}
    opsets = [o for o in copy.opset_import if o.domain != DOMAIN or o.domain in domains]
    set_all(copy.opset_import, opsets)
    return copy


def hide(model: onnx.ModelProto, operators: Operators) -> None:
    """Hides, in place, what must not be folded."""
    wanted = needed(model.graph, operators)
    for node in nodes_of(model.graph):
        if node.op_type != "Constant" and not wanted.intersection(node.output):
            node.domain = _HIDDEN + node.domain


def reveal(model: onnx.ModelProto) -> None:
    """Undoes hide."""
    for node in nodes_of(model.graph):
        node.domain = node.domain.removeprefix(_HIDDEN)


def needed(graph: onnx.GraphProto, operators: Operators) -> set[str]:
    """Names of the values that a lowering needs to know, with all that they follow from."""
    makers: dict[str, list[str]] = {}
    left = []
    for node in nodes_of(graph):
        sources = list(node.input)
        for body in bodies_of(node):
            sources += [o.name for o in body.output]
        makers.update(dict.fromkeys(node.output, sources))
        left += [node.input[i] for i in _fixed(node, operators) if i < len(node.input)]
    found: set[str] = set()
    while left:
        name = left.pop()
        if name and name not in found:
            found.add(name)
            left += makers.get(name, ())
    return found


def _fixed(node, operators):
    lowering = operators.lowering_of(node.domain, node.op_type)
    return (lowering.fixes_shape if lowering else ()) + _CONTROL.get(node.op_type, ())
