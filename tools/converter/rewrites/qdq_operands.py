"""What the integer forms of Conv, Gemm and MatMul share: operands, weights and biases."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import onnx
from onnx import helper

from ..ir import dtype_name
from ..shapes.extent import is_open
from .qdq_graph import Graph
from .qdq_terms import BYTES, INT8, INT64, UINT8, Scaled, StaysFloat

_WIDER = {21: UINT8, 22: INT8, 25: UINT8, 26: INT8}  # of 4 and 2 bits
# The part of a step of the result by which rounding a bias to integers may move it.
_BIAS_ERROR = 2**-10


def bytes_of(graph: Graph, name: str, what: str) -> Scaled:
    """The integers behind a value. Raises StaysFloat unless they are 8 bits of one scale."""
    q = graph.dequantized(name)
    if q is None:
        raise StaysFloat(f"{what} is not dequantized by a constant scale")
    if q.dtype not in BYTES:
        raise StaysFloat(f"{what} has integers of {dtype_name(q.dtype)}")
    if q.scale.size > 1:
        raise StaysFloat(f"{what} has a scale for each channel")
    return q


def result_of(
    graph: Graph, node: onnx.NodeProto, dtypes: Collection[int] = BYTES
) -> tuple[onnx.NodeProto, Scaled]:
    """The Q behind a node, and the integers that it gives. Raises StaysFloat."""
    quantize = graph.quantizer(node.output[0])
    y = graph.quantized(quantize) if quantize else None
    if quantize is None or y is None or y.dtype not in dtypes:
        bits = 8 if dtypes == BYTES else 16
        raise StaysFloat(f"nothing quantizes its result to {bits} bits")
    return quantize, y


def weights_of(graph: Graph, name: str, axis: int, rank: int) -> Scaled:
    """Weights as 8 bits with one scale, or one for each index of an axis. Raises StaysFloat.

    Weights of fewer bits become 8.
    """
    q = graph.dequantized(name)
    if q is None:
        raise StaysFloat("its weights are not dequantized by a constant scale for each channel")
    if q.dtype not in (*BYTES, *_WIDER):
        raise StaysFloat(f"its weights are {dtype_name(q.dtype)}")
    if q.scale.size > 1 and q.axis % rank != axis:
        raise StaysFloat("its weights have a scale for each input channel")
    zero = q.zero
    if zero.size > 1 and (zero == zero.ravel()[0]).all():
        zero = zero.ravel()[:1]
    if q.scale.size > 1:
        zero = np.broadcast_to(zero, q.scale.shape)
    if q.dtype in BYTES:
        return Scaled(q.values, q.dtype, q.scale, zero, axis)
    return _widened(graph, q, zero, axis)


def _widened(graph, q, zero, axis):
    dtype = _WIDER[q.dtype]
    wide = helper.tensor_dtype_to_np_dtype(dtype)
    values = graph.array(q.values)
    if values is None:
        raise StaysFloat("its weights have fewer than 8 bits and are not constant")
    name = graph.constant(values.astype(wide), q.values)
    return Scaled(name, dtype, q.scale, zero.astype(wide), axis)


def integer_bias(graph: Graph, name: str, scale: np.ndarray, step: float) -> str:
    """Name of the bias as int32 in units of `scale`. Raises StaysFloat.

    scale: of the products, one or one a channel; step: the scale of the result. A bias of one
    number becomes as many as there are scales.
    """
    values = graph.floats(name)
    if values is None:
        raise StaysFloat("its bias is not constant")
    exact = values.reshape(-1).astype(np.float64) / scale.reshape(-1)
    rounded = np.rint(exact)
    moved = np.abs(exact - rounded) * scale.reshape(-1) / step
    if moved.max(initial=0) > _BIAS_ERROR or np.abs(rounded).max(initial=0) >= 2**31:
        raise StaysFloat("its bias is not an integer on the scale of the products")
    return graph.constant(rounded.astype(np.int32), name)


def added(graph: Graph, node: onnx.NodeProto, n: int, axis: int) -> tuple[onnx.NodeProto, str]:
    """(the Add behind a node of n constants along an axis, counted from the end; those), else
    (the node itself, "").
    """
    name = node.output[0]
    add = graph.consumers(name)[0] if graph.is_used_once(name) else None
    shape = graph.shape(name)
    if add is None or add.op_type != "Add" or shape is None or graph.shape(add.output[0]) != shape:
        return node, ""
    other = add.input[1] if add.input[0] == name else add.input[0]
    values = graph.floats(other)
    if values is None or values.size != n or values.shape[axis : values.ndim + axis + 1] != (n,):
        return node, ""
    return add, graph.constant(values.reshape(-1), other)


def bias_of(graph: Graph, node: onnx.NodeProto, n: int, axis: int) -> tuple[onnx.NodeProto, str]:
    """The same for a node that may have a bias of its own: its third input."""
    if len(node.input) > 2 and node.input[2]:
        return node, node.input[2]
    return added(graph, node, n, axis)


def reshape(graph: Graph, x: str, out: str, shape: Sequence[int]) -> onnx.NodeProto:
    """Return the node that gives x with this shape, of which a run may decide one dim.

    Raises StaysFloat if it decides more of them.
    """
    if sum(map(is_open, shape)) > 1:
        raise StaysFloat("a run decides more than one dim of its shape")
    dims = graph.constant(np.array([-1 if is_open(d) else d for d in shape], np.int64), out)
    return helper.make_node("Reshape", [x, dims], [out], name=graph.new_name(out))


def reshape_like(
    graph: Graph, x: str, out: str, like: str, places: Sequence[int], last: int
) -> list[onnx.NodeProto]:
    """Return the nodes that give x with some dims of `like`, then the last one."""
    shape, some, dims = (graph.new_value(out, INT64, like="") for _ in range(3))
    at, end = (graph.constant(np.array(v, np.int64), out) for v in (places, [last]))
    nodes = [
        ("Shape", [like], shape, {}),
        ("Gather", [shape, at], some, {"axis": 0}),
        ("Concat", [some, end], dims, {"axis": 0}),
        ("Reshape", [x, dims], out, {}),
    ]
    return [
        helper.make_node(op, inputs, [y], graph.new_name(out), **attributes)
        for op, inputs, y, attributes in nodes
    ]


def product_scale(x: Scaled, w: Scaled) -> np.ndarray:
    """Scale of the products, as float64."""
    return x.scale.reshape(()).astype(np.float64) * w.scale.reshape(-1).astype(np.float64)
