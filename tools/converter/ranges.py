"""Nodes whose range of values block floating point cannot hold: they compute with floats.

1. Each product's first operand is rounded as a board does it, to 24 bits of the largest value of
   an image (Conv) or a row (Gemm, MatMul); its second one to 24 bits of the largest of a channel.
2. onnxruntime computes the model with and without that. Where no output differs by more than BOUND
   of its largest magnitude, all is well.
3. Else the nodes leave one after another, the one with the largest error of its own first, until
   that is so.

The samples are those of the golden vector, or random ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .load import opset_of
from .narrow import PRODUCTS, rounded_weights
from .node import name_of
from .ort_session import open_session

BOUND = 1e-5  # half of what a board may differ from onnxruntime: sums have errors of their own
_MOST_NBYTES = 64 << 20  # of weights; larger models would take minutes
_BITS = 24

Sample = Mapping[str, np.ndarray]


def lossy(model: onnx.ModelProto, samples: Sequence[Sample]) -> list[str]:
    """Names of the nodes that have to compute with floats; none where onnxruntime is not there."""
    nodes = [n for n in model.graph.node if n.op_type in PRODUCTS]
    if not nodes or sum(len(t.raw_data) for t in model.graph.initializer) > _MOST_NBYTES:
        return []
    try:
        exact = _outputs(model, samples)
        names = [name_of(n) for n in nodes]
        if _error(model, names, samples, exact) <= BOUND:
            return []
        alone = {name: _error(model, [name], samples, exact) for name in names}
        found: list[str] = []
        for name in sorted(names, key=alone.__getitem__, reverse=True):
            found.append(name)
            if _error(model, set(names) - set(found), samples, exact) <= BOUND:
                break
        return found
    except Exception:  # not installed; the runtime's own kinds for what it does not support
        return []


def _outputs(model, samples):
    session = open_session(model)
    return [session.run(None, dict(sample)) for sample in samples]


def _error(model, names: Collection[str], samples, exact) -> float:
    """Largest difference of an output with these nodes' operands rounded, by its magnitude."""
    worst = 0.0
    for got, wanted in zip(_outputs(_rounded(model, names), samples), exact, strict=True):
        for a, b in zip(got, wanted, strict=True):
            if isinstance(b, np.ndarray) and b.dtype.kind == "f" and b.size:
                magnitude = np.abs(b, dtype=np.float64).max()
                with np.errstate(invalid="ignore"):  # inf - inf: not finite is not looked at
                    difference = np.abs(np.subtract(a, b, dtype=np.float64)).max()
                if np.isfinite(magnitude) and magnitude:
                    worst = max(worst, float(difference / magnitude))
    return worst


def _rounded(model, names):
    """The model with the operands of these nodes rounded."""
    found = onnx.ModelProto()
    found.CopyFrom(model)
    constants = {t.name: t for t in found.graph.initializer}
    nodes = list(found.graph.node)
    del found.graph.node[:]
    for i, node in enumerate(nodes):
        if node.op_type in PRODUCTS and name_of(node) in names:
            is_conv = "Conv" in node.op_type
            axes = list(range(1, _rank(node, constants))) if is_conv else [_inner(node, "A")]
            node.input[0] = _emit(found, f"{i}/x", node.input[0], axes)
            t = constants.get(node.input[1])
            if t is not None:
                weights = rounded_weights(node, numpy_helper.to_array(t), _BITS)
                found.graph.initializer.append(numpy_helper.from_array(weights, f"{i}/w"))
                node.input[1] = f"{i}/w"
            elif not is_conv:
                node.input[1] = _emit(found, f"{i}/w", node.input[1], [_inner(node, "B")])
        found.graph.node.append(node)
    return found


def _rank(node, constants):
    t = constants.get(node.input[1])
    return len(t.dims) if t is not None else 4


def _inner(node, side):
    """The axis along which the products of an operand are summed."""
    swapped = any(a.name == f"trans{side}" and a.i for a in node.attribute)
    return -2 if swapped == (side == "A") else -1


def _emit(model, name, x, axes):
    """Appends nodes that round x to mantissas with an exponent along these axes."""
    graph = model.graph

    def constant(value):
        key = f"{name}/{len(graph.initializer)}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(value), key))
        return key

    def apply(op, *inputs, **attrs):
        out = f"{name}/{op}{len(graph.node)}"
        graph.node.append(helper.make_node(op, list(inputs), [out], **attrs))
        return out

    def number(value):
        return constant(np.float32(value))

    size = apply("Abs", x)
    if opset_of(model, "") >= 18:
        size = apply("ReduceMax", size, constant(np.array(axes, np.int64)), keepdims=1)
    else:
        size = apply("ReduceMax", size, axes=axes, keepdims=1)
    power = apply("Div", apply("Log", apply("Max", size, number(1e-30))), number(np.log(2)))
    power = apply("Sub", apply("Floor", power), number(_BITS - 2))
    unit = apply("Pow", number(2), power)
    whole = apply("Floor", apply("Add", apply("Div", x, unit), number(0.5)))
    return apply("Mul", whole, unit)


def is_known(model: onnx.ModelProto) -> bool:
    """True if every input is a tensor of numbers with a fixed shape."""
    types = [i.type.tensor_type for i in model.graph.input]
    sizes = [d.HasField("dim_value") for t in types for d in t.shape.dim]
    return all(sizes) and all(
        t.elem_type not in (TensorProto.UNDEFINED, TensorProto.STRING) for t in types
    )
