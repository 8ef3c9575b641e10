"""Find the graph inputs that decide a shape, so that a conversion needs their contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx

from .context import PLAIN, Context
from .load import prepare
from .own import Operators
from .simplify import ms_bodies
from .simplify.expand import expand

# Operators that hand such contents on, with how many of their first inputs are followed: those
# that only rearrange them, and (to small integer inputs alone) those that compute with them.
_CARRIERS = {"Cast": 1, "Identity": 1, "Reshape": 1, "Squeeze": 1, "Unsqueeze": 1, "Concat": 99}
_ARITHMETIC = {
    "Abs": 1,
    "Gather": 1,
    "Neg": 1,
    "Slice": 1,
    "Split": 1,
    "Where": 3,
} | dict.fromkeys(("Add", "Div", "Max", "Min", "Mod", "Mul", "Sub"), 2)
_INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
# Inputs that decide whether there is an optional, or how long a sequence gets.
_DECIDERS = {"If": (1, "optional_type"), "Loop": (2, "sequence_type")}


def shape_fixing_inputs(
    model: onnx.ModelProto, at_run_time: bool = False, context: Context = PLAIN
) -> list[str]:
    """Return the graph inputs that decide a shape: axes, shapes, starts, repeats of nodes.

    Inputs that reach such a node through Cast, Concat and the like count too; through arithmetic
    only integers of rank 0 or 1 do, because larger ones are data.

    Args:
        model: the model.
        at_run_time: omit inputs that a kernel can take as data.
        context: has the lowerings.
    """
    graph = _expanded(model, context).graph
    makers, fixing = {}, set()
    for node in _nodes(graph):
        makers.update(_sources(node))
        fixing.update(_fixing(node, at_run_time, context.operators))
    plain = _followed(fixing, makers, _CARRIERS)
    computed = _followed(fixing, makers, _CARRIERS | _ARITHMETIC)
    constant = {t.name for t in graph.initializer}
    return [
        i.name
        for i in graph.input
        if i.name not in constant and (i.name in plain or (i.name in computed and _is_small(i)))
    ]


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for body in _bodies(node):
            yield from _nodes(body)


def _bodies(node) -> list[onnx.GraphProto]:
    return [a.g for a in node.attribute if a.HasField("g")]


def _fixing(node, at_run_time: bool, operators: Operators) -> list[str]:
    """Return the node's inputs that decide a shape."""
    lowering = operators.lowering_of(node.domain, node.op_type)
    fixing = lowering.fixes_shape if lowering else ()
    if at_run_time and lowering:
        fixing = [i for i in fixing if i not in lowering.at_run_time]
    n, kind = _DECIDERS.get(node.op_type, (0, ""))
    if any(v.type.WhichOneof("value") == kind for body in _bodies(node) for v in body.output):
        fixing = range(n)
    fixed = [node.input[i] for i in fixing if i < len(node.input)]
    return fixed if lowering else fixed + ms_bodies.fixing(node)


def _sources(node) -> dict[str, tuple[str, Sequence[str]]]:
    """Return {output: (operator, its sources)}; the sources of an If are its branches' results."""
    if node.op_type != "If":
        return {name: (node.op_type, node.input) for name in node.output if name}
    ends = zip(*([o.name for o in body.output] for body in _bodies(node)), strict=True)
    return {name: ("If", names) for name, names in zip(node.output, ends, strict=True)}


def _expanded(model, context):
    """Return the model with functions and operators expanded, as a conversion will expand them."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    try:
        return expand(prepare(copy, context.operators), context)
    except Exception:  # onnx raises many kinds; a conversion will say what is wrong
        return model


def _followed(names, makers, operators: Mapping[str, int]) -> set[str]:
    """Return the named values, and all from which they follow by these operators."""
    followed, left = set(), list(names)
    while left:
        name = left.pop()
        if name and name not in followed:
            followed.add(name)
            operator, sources = makers.get(name, ("", ()))
            left += sources[: 2 if operator == "If" else operators.get(operator, 0)]
    return followed


def _is_small(info):
    t = info.type.tensor_type
    return t.elem_type in _INTEGERS and t.HasField("shape") and len(t.shape.dim) < 2
