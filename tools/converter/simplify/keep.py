"""Keep all operators at level 0 of --optimize, so that the device computes each of them.

1. Values that decide a shape, and the conditions and trip counts of If and Loop, are folded as far
   as they follow from constants: no lowering works without them.
2. Every other node is hidden from constant folding by a prefix of its domain.
3. A constant that the sequence rules derive from their lists becomes the operator Given, which
   makes the device compute it from the number of tensors.
"""

from __future__ import annotations

import onnx
from onnx import helper

from ..own import Operators
from ..protos import bodies_of, copied, nodes_of, set_all

_HIDDEN = "mpconnxr.kept."  # prefix of a node's domain while constants are folded
DOMAIN = "mpconnxr"  # of Given
# Indexes of inputs that a lowering must know, besides those that fix a shape.
_CONTROL = {"If": (0,), "Loop": (0, 1)}


def declare(model: onnx.ModelProto) -> None:
    """Add the domain of the operator Given to a model's opsets."""
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))


def undeclared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy that imports the domain of Given only if the model uses it."""
    copy = copied(model)
    domains = {node.domain for node in copy.graph.node}
    opsets = [o for o in copy.opset_import if o.domain != DOMAIN or o.domain in domains]
    set_all(copy.opset_import, opsets)
    return copy


def hide(model: onnx.ModelProto, operators: Operators) -> None:
    """Hide all nodes that must not be folded, in place."""
    foldable = needed(model.graph, operators)
    for node in nodes_of(model.graph):
        if node.op_type != "Constant" and not foldable.intersection(node.output):
            node.domain = _HIDDEN + node.domain


def reveal(model: onnx.ModelProto) -> None:
    """Undo `hide`, in place."""
    for node in nodes_of(model.graph):
        node.domain = node.domain.removeprefix(_HIDDEN)


def needed(graph: onnx.GraphProto, operators: Operators) -> set[str]:
    """Return the names of values that a lowering must know, and of all that they depend on."""
    makers: dict[str, list[str]] = {}
    pending = []
    for node in nodes_of(graph):
        sources = list(node.input)
        for body in bodies_of(node):
            sources += [o.name for o in body.output]
        makers.update(dict.fromkeys(node.output, sources))
        pending += [node.input[i] for i in _fixed(node, operators) if i < len(node.input)]
    names: set[str] = set()
    while pending:
        name = pending.pop()
        if name and name not in names:
            names.add(name)
            pending += makers.get(name, ())
    return names


def _fixed(node, operators):
    lowering = operators.lowering_of(node.domain, node.op_type)
    return (lowering.fixes_shape if lowering else ()) + _CONTROL.get(node.op_type, ())
