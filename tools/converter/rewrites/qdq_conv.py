"""Conv between DQ and Q becomes QLinearConv.

1. DQ -> Conv -> Q, weights constant and quantized, the bias constant (or added behind, a constant
   for each channel), becomes QLinearConv with the bias as int32 in units of x_scale * w_scale.
2. Where that bias is no integer to within 1/1000 of a step of the result, or the result is needed
   as float: ConvInteger and ToFloat (see qdq_dynamic).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
from onnx import helper

from .qdq_dynamic import to_float
from .qdq_graph import Graph
from .qdq_operands import bias_of, bytes_of, integer_bias, product_scale, result_of, weights_of
from .qdq_terms import INT32, Scaled, StaysFloat


def fuse_conv(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x = bytes_of(graph, node.input[0], "its input")
    shape = graph.shape(node.input[1])
    if shape is None:
        raise StaysFloat("the shape of its weights is not known")
    w = weights_of(graph, node.input[1], 0, len(shape))
    last, bias = bias_of(graph, node, shape[0], 1 - len(shape))
    try:
        quantize, y = result_of(graph, last)
        _to_qlinear(graph, node, quantize, x, w, bias, y)
    except StaysFloat:
        _to_integer(graph, node, x, w, bias if last is node else "")


def _to_qlinear(graph, node, quantize, x, w, bias, y):
    """The nodes between are read by nobody then."""
    out = quantize.output[0]
    inputs = [name for q in (x, w) for name in graph.operand(q, out)]
    inputs += graph.parameters(y, out)
    if bias:
        step = float(y.scale.reshape(()))
        inputs.append(integer_bias(graph, bias, product_scale(x, w), step))
    fused = helper.make_node("QLinearConv", inputs, [out], name=node.name)
    fused.attribute.extend(node.attribute)
    graph.replace(quantize, [fused])


def _to_integer(graph: Graph, node, x: Scaled, w: Scaled, bias: str):
    out = node.output[0]
    by_channel = (-1, *[1] * (len(graph.shape(node.input[1])) - 2))
    sums = graph.new_value(out, INT32, like=out)
    if (w.zero == w.zero.ravel()[:1]).all():  # onnxruntime takes no other
        w = replace(w, zero=w.zero.ravel()[:1])
    zeros = [graph.constant(q.zero.reshape(() if q.zero.size == 1 else -1), out) for q in (x, w)]
    convolve = helper.make_node("ConvInteger", [x.values, w.values, *zeros], [sums], node.name)
    convolve.attribute.extend(node.attribute)
    scale = product_scale(x, w).astype(np.float32)
    scale = scale.reshape(by_channel if scale.size > 1 else ())
    offset = graph.floats(bias) if bias else np.zeros(1, np.float32)
    if offset is None:
        raise StaysFloat("its bias is not constant")
    constants = [graph.constant(v, out) for v in (scale, offset.reshape(by_channel))]
    graph.replace(node, [convolve, to_float(graph, sums, *constants, out, 1)])
