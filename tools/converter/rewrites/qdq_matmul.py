"""Gemm and MatMul between DQ and Q become QGemm and QLinearMatMul.

1. DQ -> MatMul -> Q of two tensors that the run computes becomes QLinearMatMul.
2. DQ -> Gemm -> Q, B and C constant, becomes QGemm with C as int32 in units of a_scale * b_scale.
   So does MatMul with a constant matrix, with the Add of a constant row behind it as C; A of more
   than two dims is reshaped to two, and the result back.
3. Where nothing quantizes the result, or C is no integer to within 1/1000 of a step of the result:
   MatMulInteger and ToFloat (see qdq_dynamic).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper

from ..shapes.extent import is_open
from .qdq_dynamic import to_float
from .qdq_graph import Graph
from .qdq_operands import (
    added,
    bytes_of,
    integer_bias,
    product_scale,
    reshape,
    reshape_like,
    result_of,
    weights_of,
)
from .qdq_terms import INT32, MS, Scaled, StaysFloat, attribute


@dataclass
class _Product:
    """last: the node that gives the float result; bias: its name, or ""."""

    last: onnx.NodeProto
    a: Scaled
    b: Scaled
    bias: str
    trans_a: int = 0
    trans_b: int = 0
    beta: float = 1.0


def fuse_gemm(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    trans_b = attribute(node, "transB", 0)
    a = bytes_of(graph, node.input[0], "its first input")
    b = weights_of(graph, node.input[1], 1 - trans_b, 2)
    alpha = np.float32(attribute(node, "alpha", 1.0))
    b = replace(b, scale=b.scale * alpha)
    bias = node.input[2] if len(node.input) > 2 else ""
    trans_a, beta = attribute(node, "transA", 0), attribute(node, "beta", 1.0)
    _fuse(graph, _Product(node, a, b, bias, trans_a, trans_b, beta), node)


def fuse_matmul(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    a = bytes_of(graph, node.input[0], "its first input")
    q = graph.dequantized(node.input[1])
    shape = graph.shape(node.input[1])
    if q is None or graph.array(q.values) is None or shape is None or len(shape) != 2:
        _of_two(graph, node, a, bytes_of(graph, node.input[1], "its second input"))
        return
    b = weights_of(graph, node.input[1], 1, 2)
    last, bias = added(graph, node, shape[1], -1)
    _fuse(graph, _Product(last, a, b, bias), node)


def _of_two(graph, node, a, b):
    quantize, y = result_of(graph, node)
    out = quantize.output[0]
    inputs = [name for q in (a, b) for name in graph.operand(q, out)]
    inputs += graph.parameters(y, out)
    graph.fuse(node, quantize, [helper.make_node("QLinearMatMul", inputs, [out], name=node.name)])


def _fuse(graph, product, node):
    try:
        quantize, y = result_of(graph, product.last)
        c = _integer_c(graph, product, y)
    except StaysFloat:
        _to_float(graph, product, node)
        return
    _put(graph, product, node, quantize, [c, *graph.parameters(y, quantize.output[0])])
    graph.replace(product.last, [])


def _integer_c(graph, product, y):
    if not product.bias:
        return ""
    if product.beta != 1.0:
        raise StaysFloat("beta")
    shape = graph.shape(product.bias)
    if shape is None or math.prod(shape) != math.prod(shape[-1:]):
        raise StaysFloat("its C is not a row")
    scale = product_scale(product.a, product.b)
    return integer_bias(graph, product.bias, scale, float(y.scale.reshape(())))


def _to_float(graph, product, node):
    """MatMulInteger and ToFloat in the place of the product and of the constants added to it."""
    a, b, out = product.a, product.b, product.last.output[0]
    shape, weights = graph.shape(node.input[0]), graph.array(b.values)
    if product.trans_a or weights is None or not shape:
        raise StaysFloat("its first input is transposed, its second no constant")
    weights = weights.T if product.trans_b else weights
    offset = graph.floats(product.bias) if product.bias else np.zeros(1, np.float32)
    if offset is None or offset.size > 1 and offset.shape[-1] != offset.size:
        raise StaysFloat("its C is not a constant row")
    sums = graph.new_value(out, INT32, like=out)
    inputs = [a.values, graph.constant(weights, b.values)]
    inputs += [graph.parameters(q, out)[1] for q in (a, b)]
    multiply = helper.make_node("MatMulInteger", inputs, [sums], name=node.name)
    scale = product_scale(a, b).astype(np.float32)
    offset = offset.reshape(-1) * np.float32(product.beta)
    constants = [graph.constant(v, out) for v in (scale, offset)]
    scaled = to_float(graph, sums, *constants, out, len(shape) - 1)
    graph.replace(product.last, [multiply, scaled])


def _put(graph, product, node, old, rest):
    """QGemm in the place of the Q of the result; Reshapes where A has more dims."""
    out = old.output[0]
    a, b = product.a, product.b
    shape = graph.shape(node.input[0])
    if shape is None or is_open(shape[-1]):
        raise StaysFloat("the shape of its input is not known")
    values, result, nodes = a.values, out, []
    if len(shape) != 2:
        values = graph.new_value(a.values, a.dtype, like="")
        result = graph.new_value(out, graph.dtype(out), like="")
        nodes.append(reshape(graph, a.values, values, [-1, shape[-1]]))
    inputs = [values, *graph.parameters(a, out), *graph.operand(b, out), *rest]
    gemm = helper.make_node("QGemm", inputs, [result], name=node.name, domain=MS)
    for name, value in (("transA", product.trans_a), ("transB", product.trans_b)):
        gemm.attribute.append(helper.make_attribute(name, value))
    nodes.append(gemm)
    if len(shape) != 2:
        nodes += _unfolded(graph, result, out, a.values, shape)
    graph.replace(old, nodes)


def _unfolded(graph, result, out, x, shape):
    """The nodes that give a product's rows the dims of x again, before the last one."""
    whole = graph.shape(out)
    if sum(map(is_open, whole)) > 1:
        return reshape_like(graph, result, out, x, range(len(shape) - 1), whole[-1])
    return [reshape(graph, result, out, whole)]
