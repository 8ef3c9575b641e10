"""LayerNormalization between DQ and Q, or its first half, becomes an operator of integers.

1. DQ -> LayerNormalization -> Q, scale and bias constant, becomes
   `mpconnxr:QLinearLayerNormalization` (see qdq_functions).
2. (x - mean(x)) / root -> Q, both means over the last axis of DQ of x, and root a table of floats
   (see qdq_lookup) of the quantized mean((x - mean(x)) ** 2), becomes
   `mpconnxr:QLinearDeviation`.
"""

from __future__ import annotations

import numpy as np
import onnx

from ..ops.deviation import deviation_words
from ..shapes.extent import any_open, is_open
from .qdq_functions import OWN, call
from .qdq_graph import Graph
from .qdq_operands import bytes_of, result_of
from .qdq_terms import Scaled, StaysFloat, attribute, dequantize, is_q


def fuse_normalize(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    if len(list(filter(None, node.output))) > 1:
        raise StaysFloat("its statistics are outputs, too")
    x = bytes_of(graph, node.input[0], "its input")
    quantize, y = result_of(graph, node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    shape = graph.shape(node.input[0])
    if shape is None or any_open(shape[attribute(node, "axis", -1) :]):
        raise StaysFloat("a run decides how many items it normalizes")
    out, scale = quantize.output[0], graph.floats(node.input[1])
    has_bias = len(node.input) > 2 and node.input[2]
    bias = graph.floats(node.input[2]) if has_bias else np.zeros(1, np.float32)
    if scale is None or bias is None:
        raise StaysFloat("its scale or bias is not constant")
    factors = [scale, np.broadcast_to(bias, np.broadcast_shapes(bias.shape, scale.shape))]
    inputs = [*graph.operand(x, out), *(graph.constant(v, out) for v in factors)]
    inputs += graph.parameters(y, out)
    op = "QLinearLayerNormalization"
    graph.fuse(node, quantize, [call(graph, op, inputs, out, node.name, node)])


def fuse_deviation(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    centred = graph.producer(node.input[0])
    found, table = _centred(graph, centred), _table(graph, node.input[1])
    if found is None or table is None:
        raise StaysFloat(f"{node.op_type} has no integer form")
    (x, shape), (name, roots) = found, table
    v = _variance(graph, name, centred, shape)
    if v is None:
        raise StaysFloat("what it is divided by does not follow from its quantized variance")
    quantize, y = result_of(graph, node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    scales = [float(q.scale.reshape(-1)[0]) for q in (x, v, y)]
    if deviation_words(shape[-1], scales, roots) is None:
        raise StaysFloat("its scales are too far apart")
    out = quantize.output[0]
    inputs = [*graph.operand(x, out), *graph.parameters(v, out), graph.constant(roots, out)]
    inputs += graph.parameters(y, out)
    graph.fuse(node, quantize, [call(graph, "QLinearDeviation", inputs, out, node.name)])


def _centred(graph, node):
    """(bytes of x, shape) of x - mean(x) over the last axis; else None."""
    if not _is(node, "Sub"):
        return None
    x, shape = graph.dequantized(node.input[0]), graph.shape(node.input[0])
    mean = graph.producer(node.input[1])
    if x is None or not x.is_bytes or not shape or 0 in shape or is_open(shape[-1]):
        return None
    if not _is_mean(graph, mean, shape):
        return None
    other = graph.dequantized(mean.input[0])
    is_same = other is not None and other.values == x.values and other.same_scale(x)
    return (x, shape) if is_same else None


def _table(graph, name):
    """(the bytes that a value follows from, its float32 for each of them); else None."""
    q = graph.dequantized(name)
    lookup = graph.producer(name if q is None else q.values)
    if lookup is None or (lookup.domain, lookup.op_type) != (OWN, "Lookup"):
        return None
    table = graph.array(lookup.input[1])
    if table is None or q is not None and not q.is_bytes:
        return None
    table = table if q is None else dequantize(table, q)
    return (lookup.input[0], table) if table.dtype == np.float32 else None


def _is(node, *op_types):
    return node is not None and node.op_type in op_types and node.domain in ("", "ai.onnx")


def _is_mean(graph, node, shape):
    """Whether it is one of rows, over the last axis alone."""
    if not _is(node, "ReduceMean") or graph.shape(node.output[0]) != [*shape[:-1], 1]:
        return False
    axes = attribute(node, "axes")
    if len(node.input) > 1 and node.input[1]:
        axes = graph.array(node.input[1])
    return axes is not None and [int(a) % len(shape) for a in axes] == [len(shape) - 1]


def _variance(graph, name, centred, shape) -> Scaled | None:
    """The bytes of a mean of squares."""
    quantize = graph.producer(name)
    v = graph.quantized(quantize) if is_q(quantize) else None
    mean = graph.producer(quantize.input[0]) if v is not None and v.is_bytes else None
    if not _is_mean(graph, mean, shape):
        return None
    square = graph.producer(mean.input[0])
    if not _is(square, "Pow", "Mul") or square.input[0] != centred.output[0]:
        return None
    power = graph.floats(square.input[1])
    is_two = power is not None and power.size == 1 and float(power.reshape(-1)[0]) == 2
    is_square = is_two if square.op_type == "Pow" else square.input[1] == square.input[0]
    return v if is_square else None
