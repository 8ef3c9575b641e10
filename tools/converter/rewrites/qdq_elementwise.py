"""Add, Sub, Mul and Softmax between DQ and Q become QLinear operators.

1. DQ, DQ -> Add or Mul -> Q becomes QLinearAdd or QLinearMul. Sum of two is Add.
2. DQ, DQ -> Sub -> Q becomes QLinearAdd with the integers of the second mirrored by a table (all
   bits flipped, those of the zero point too), which negates what they mean.
3. DQ -> Softmax -> Q becomes `mpconnxr:QLinearSoftmax`. com.microsoft's cuts 1 / y_scale to an
   integer. A Mul or Div by a positive constant in between goes into the scale of DQ: attention
   scales its scores so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
from onnx import helper

from . import qdq_functions
from .qdq_graph import Graph
from .qdq_lookup import look_up
from .qdq_operands import bytes_of, result_of
from .qdq_terms import MS, StaysFloat, attribute

_ONNX = ("", "ai.onnx")
_FUSED = {"Add": "QLinearAdd", "Sum": "QLinearAdd", "Sub": "QLinearAdd", "Mul": "QLinearMul"}


def fuse_binary(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    if len(node.input) != 2:
        raise StaysFloat(f"it has {len(node.input)} inputs")
    a, b = (bytes_of(graph, name, "an input") for name in node.input)
    quantize, y = result_of(graph, node)
    if not a.dtype == b.dtype == y.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    out, before = quantize.output[0], []
    if node.op_type == "Sub":
        b, before = _mirrored(graph, b)
    inputs = [name for q in (a, b) for name in graph.operand(q, out)]
    inputs += graph.parameters(y, out)
    op = _FUSED[node.op_type]
    fused = helper.make_node(op, inputs, [out], name=node.name, domain=MS)
    graph.fuse(node, quantize, [*before, fused])


def _mirrored(graph, q):
    table = ~np.arange(256, dtype=np.uint8)
    mirrored = graph.new_value(q.values, q.dtype, like=q.values)
    node = look_up(graph, q.values, table.view(q.zero.dtype), mirrored)
    return replace(q, values=mirrored, zero=~q.zero), [node]


def scale_scores(graph: Graph) -> bool:
    """The second part of rule 3, before anything makes a table of it; True if it did."""
    found = [node for node in graph.nodes if node.op_type == "Softmax" and node.domain in _ONNX]
    changed = [_scale_score(graph, node) for node in found]
    return any(changed)


def _scale_score(graph, softmax):
    x = softmax.input[0]
    node, is_quantized = graph.producer(x), graph.quantizer(softmax.output[0]) is not None
    is_scaled = node is not None and node.op_type in ("Mul", "Div") and node.domain in _ONNX
    if not is_scaled or not is_quantized or not graph.is_used_once(x):
        return False
    a, b = node.input
    if node.op_type == "Mul" and graph.dequantized(a) is None:
        a, b = b, a
    q, number = graph.dequantized(a), graph.floats(b)
    if q is None or not q.is_bytes or number is None or number.size != 1:
        return False
    if graph.shape(a) is None or graph.shape(a) != graph.shape(x):
        return False
    with np.errstate(all="ignore"):
        number, old = np.float64(number.reshape(())), np.float64(q.scale.reshape(()))
        scale = np.float32(old * number if node.op_type == "Mul" else old / number)
    if not 0 < scale < np.inf:
        return False
    dq = graph.producer(a)
    inputs = [q.values, *graph.parameters(replace(q, scale=scale), x)]
    scaled = helper.make_node(dq.op_type, inputs, [x], graph.new_name(x), domain=dq.domain)
    graph.replace(node, [scaled])
    return True


def fuse_softmax(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x = bytes_of(graph, node.input[0], "its input")
    quantize, y = result_of(graph, node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    out = quantize.output[0]
    inputs = [*graph.operand(x, out), *graph.parameters(y, out)]
    axis = attribute(node, "axis", -1 if graph.opset >= 13 else 1)
    fused = qdq_functions.call(graph, "QLinearSoftmax", inputs, out, node.name, axis=axis)
    graph.fuse(node, quantize, [fused])
