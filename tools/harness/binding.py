"""Which graph inputs decide a shape, so that a conversion needs their contents."""

from __future__ import annotations

import onnx

from tools.converter.load import prepare
from tools.converter.ops import lowering_of
from tools.converter.passes.expand import expand

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


def shape_fixing_inputs(model: onnx.ModelProto) -> list[str]:
    """Graph inputs that are a node's axes, shape, starts, repeats, ..., in order.

    Those that reach the node through Cast, Concat and the like count, too; through arithmetic only
    integers of rank 0 or 1, for what is larger is data.
    """
    graph = _expanded(model).graph
    makers = {name: node for node in graph.node for name in node.output if name}
    wanted = set()
    for node in graph.node:
        lowering = lowering_of(node.domain, node.op_type)
        fixing = lowering.fixes_shape if lowering else ()
        wanted |= {node.input[i] for i in fixing if i < len(node.input)}
    plain = _sources(wanted, makers, _CARRIERS)
    computed = _sources(wanted, makers, _CARRIERS | _ARITHMETIC)
    constant = {t.name for t in graph.initializer}
    return [
        i.name
        for i in graph.input
        if i.name not in constant and (i.name in plain or (i.name in computed and _is_small(i)))
    ]


def _expanded(model):
    """The model as a conversion will see it: functions inlined, operators without a kernel too."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    try:
        return expand(prepare(copy))
    except Exception:  # onnx raises many kinds; a conversion will say what is wrong
        return model


def _sources(names, makers, followed):
    """The named values, and all from which they come by way of the followed operators."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name and name not in found:
            found.add(name)
            maker = makers.get(name)
            if maker is not None:
                left += maker.input[: followed.get(maker.op_type, 0)]
    return found


def _is_small(info):
    t = info.type.tensor_type
    return t.elem_type in _INTEGERS and t.HasField("shape") and len(t.shape.dim) < 2
