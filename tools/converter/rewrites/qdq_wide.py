"""What lies between DQ and Q of 16-bit integers becomes operators of such integers.

1. DQ -> Conv -> Q and DQ -> Gemm or MatMul -> Q, weights constant in 8 bits with zero points 0,
   bias constant: `mpconnxr:WideConv` and `WideGemm`.
2. DQ, DQ -> Add, Sub or Mul -> Q of one shape: `WideAdd`, `WideSub`, `WideMul` (of zero points 0).
3. DQ -> Relu or Clip -> Q: `WideClip`; so is Q behind DQ, which goes away where both have the same
   scale.
4. DQ -> AveragePool (where padding counts, or is none) or GlobalAveragePool -> Q:
   `WideAveragePool`, `WideGlobalAveragePool`.
5. DQ -> MaxPool -> Q with the same scale: `WideMaxPoolInt16` or `WideMaxPoolUint16`.

No operator of ONNX or com.microsoft takes such activations: see qdq_functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from ..ir import dtype_name
from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_operands import added, bias_of, integer_bias, product_scale, result_of, weights_of
from .qdq_pool import require_counts
from .qdq_terms import INT8, UINT8, Scaled, StaysFloat, attribute

INT16, UINT16 = 5, 4
WIDE = (UINT16, INT16)
_LEAST_SCALE, _GREATEST_SCALE = 2.0**-40, 2.0**10  # of products
_GREATEST_SUM = 2.0**13  # of two inputs' scales next to the result's


def is_wide(graph: Graph, node: onnx.NodeProto) -> bool:
    """True if an input of the node is dequantized from 16 bits."""
    found = [graph.dequantized(name) for name in node.input if name]
    return any(q is not None and q.dtype in WIDE for q in found)


def _operand(graph, name):
    q = graph.dequantized(name)
    if q is None or q.dtype not in WIDE or q.scale.size > 1:
        raise StaysFloat("an input has no 16 bits of one constant scale")
    return q


def _product(graph, node, op, weights, last, bias):
    """WideConv or WideGemm. weights: rows by output channel; bias: name of float constants."""
    x = _operand(graph, node.input[0])
    quantize, y = result_of(graph, last, WIDE)
    weights = _signed(graph, weights)
    out, n = quantize.output[0], graph.shape(weights.values)[0]
    scale = np.broadcast_to(product_scale(x, weights), (n,))
    if bias:
        integer_bias(graph, bias, scale, float(y.scale.reshape(())))  # or it stays float
    values = np.zeros(n, np.float32) if not bias else graph.floats(bias).reshape(-1)
    w_scale = np.broadcast_to(weights.scale.reshape(-1), (n,)).astype(np.float32)
    inputs = [*graph.operand(x, out), weights.values]
    inputs += [graph.constant(v, out) for v in (w_scale, values)]
    _put(graph, f"Wide{op}", [*inputs, *graph.parameters(y, out)], quantize, node)
    graph.replace(last, [])


def _signed(graph, w):
    """Weights of int8 whose zero point is 0; uint8 with 128 are the same."""
    if w.dtype == UINT8 and (w.zero == 128).all():
        values = (graph.array(w.values).astype(np.int16) - 128).astype(np.int8)
        return Scaled(graph.constant(values, w.values), INT8, w.scale, values[:0])
    if w.dtype != INT8 or w.zero.any():
        raise StaysFloat("its weights have a zero point")
    return w


def _conv(graph, node):
    shape = graph.shape(node.input[1])
    if shape is None or not 3 <= len(shape) <= 4:
        raise StaysFloat("it has more than two dims, or weights of unknown shape")
    last, bias = bias_of(graph, node, shape[0], 1 - len(shape))
    result_of(graph, last, WIDE)
    w = weights_of(graph, node.input[1], 0, len(shape))
    if graph.array(w.values) is None:
        raise StaysFloat("its weights are not constant")
    _product(graph, node, "Conv", w, last, bias)


def _gemm(graph, node):
    trans_b, alpha, beta = (attribute(node, k, d) for k, d in _GEMM)
    rank = len(graph.shape(node.input[0]) or ())
    w = weights_of(graph, node.input[1], 1 - trans_b, 2)
    values = graph.array(w.values)
    if attribute(node, "transA", 0) or alpha != 1 or beta != 1 or rank != 2 or values is None:
        raise StaysFloat("its first input is not a matrix of rows, or its second not constant")
    bias = node.input[2] if len(node.input) > 2 else ""
    if bias and graph.shape(bias) not in ([len(values)], [values.shape[1]]):
        raise StaysFloat("its C is not a row")
    last, bias = (node, bias) if bias else added(graph, node, values.shape[trans_b - 1], -1)
    rows = graph.constant(values if trans_b else values.T, node.output[0])
    _product(graph, node, "Gemm", Scaled(rows, w.dtype, w.scale, w.zero), last, bias)


_GEMM = (("transB", 0), ("alpha", 1.0), ("beta", 1.0))


def _of_two(graph, node):
    shapes = [graph.shape(name) for name in node.input]
    if len(shapes) != 2 or shapes[0] is None or shapes[0] != shapes[1]:
        raise StaysFloat("its inputs have different shapes")
    a, b = (_operand(graph, name) for name in node.input)
    quantize, y = result_of(graph, node, WIDE)
    if not a.dtype == b.dtype == y.dtype:
        raise StaysFloat("its integers are int16 here and uint16 there")
    if node.op_type == "Mul":
        _require_small(a, b, y)
    elif a.scale.item() + b.scale.item() > _GREATEST_SUM * y.scale.item():
        raise StaysFloat("its scales are far apart")
    inputs = [name for q in (a, b) for name in graph.operand(q, node.output[0])]
    inputs += graph.parameters(y, node.output[0])
    _put(graph, f"Wide{node.op_type}", inputs, quantize)
    graph.replace(node, [])


def _require_small(a, b, y):
    """Products and their scale are within what the device takes."""
    if any((q.zero.astype(np.int32) != (32768 if q.dtype == UINT16 else 0)).any() for q in (a, b)):
        raise StaysFloat("its inputs have zero points")
    scale = float(a.scale.reshape(())) * float(b.scale.reshape(())) / float(y.scale.reshape(()))
    if not _LEAST_SCALE <= scale <= _GREATEST_SCALE:
        raise StaysFloat("its scales are far apart")


def _clip(graph, node):
    x = _operand(graph, node.input[0])
    quantize, y = result_of(graph, node, WIDE)
    ends = [np.float32(0 if node.op_type == "Relu" else -np.inf), np.float32(np.inf)]
    given = [*node.input[1:], "", ""][:2] if node.op_type == "Clip" else ["", ""]
    for i, name in enumerate(given):
        ends[i] = ends[i] if not name else graph.floats(name)
    if graph.opset < 11 and node.attribute or any(v is None or v.size != 1 for v in ends):
        raise StaysFloat("its limits are not constant")
    largest = np.finfo(np.float32).max
    limits = [graph.constant(np.clip(v.reshape(()), -largest, largest), "limit") for v in ends]
    inputs = [*graph.operand(x, node.output[0]), *limits]
    _put(graph, "WideClip", [*inputs, *graph.parameters(y, node.output[0])], quantize)
    graph.replace(node, [])


def _rescale(graph, node):
    x, y = _operand(graph, node.input[0]), graph.quantized(node)
    if y is None or y.dtype not in WIDE or y.scale.size > 1:
        raise StaysFloat("its result has no 16 bits of one constant scale")
    if x.same_scale(y) and not graph.is_kept(node.output[0]):
        graph.redirect(node.output[0], x.values)
        graph.replace(node, [])
        return
    largest = np.finfo(np.float32).max
    limits = [graph.constant(v, "limit") for v in (-largest, largest)]
    inputs = [*graph.operand(x, node.output[0]), *limits]
    _put(graph, "WideClip", [*inputs, *graph.parameters(y, node.output[0])], node)


def _mean(graph, node):
    x = _operand(graph, node.input[0])
    quantize, y = result_of(graph, node, WIDE)
    is_plain = attribute(node, "auto_pad", b"NOTSET") in (b"NOTSET", b"VALID")
    counts = not any(attribute(node, "pads", ())) or attribute(node, "count_include_pad", 0)
    if not is_plain or not counts or attribute(node, "ceil_mode", 0):
        raise StaysFloat("it has padding")
    if any(d != 1 for d in attribute(node, "dilations", ())):
        raise StaysFloat("it has dilations")
    if not 3 <= len(graph.shape(node.input[0]) or ()) <= 4:
        raise StaysFloat("it has more than two dims")
    require_counts(graph, node)
    inputs = [*graph.operand(x, node.output[0]), *graph.parameters(y, node.output[0])]
    _put(graph, f"Wide{node.op_type}", inputs, quantize, node)
    graph.replace(node, [])


def _max_pool(graph, node):
    x = _operand(graph, node.input[0])
    quantize, y = result_of(graph, node, WIDE)
    if len(node.output) > 1 or not x.same_scale(y):
        raise StaysFloat("it changes the scale, or gives indices")
    if not 3 <= len(graph.shape(node.input[0]) or ()) <= 4:
        raise StaysFloat("it has more than two dims")
    name = f"WideMaxPool{dtype_name(y.dtype).capitalize()}"
    _put(graph, name, [x.values], quantize, node)
    graph.replace(node, [])


FUSED: dict[str, Callable[[Graph, onnx.NodeProto], None]] = {
    "Add": _of_two,
    "AveragePool": _mean,
    "Clip": _clip,
    "Conv": _conv,
    "Gemm": _gemm,
    "GlobalAveragePool": _mean,
    "MatMul": _gemm,
    "MaxPool": _max_pool,
    "Mul": _of_two,
    "QuantizeLinear": _rescale,
    "Relu": _clip,
    "Sub": _of_two,
}


def _put(graph, name, inputs, quantize, like=None):
    """The operator in the place of the Q of the result."""
    graph.replace(quantize, [call(graph, name, inputs, quantize.output[0], quantize.name, like)])
