"""Replace nodes between DQ and Q of 16-bit integers by operators of 16-bit integers.

1. DQ -> Conv -> Q and DQ -> Gemm or MatMul -> Q, weights constant in 8 bits with zero points 0,
   bias constant: `mpconnxr:WideConv` and `WideGemm`.
2. DQ, DQ -> Add, Sub or Mul -> Q of one shape: `WideAdd`, `WideSub`, `WideMul` (of zero points 0).
3. DQ -> Relu or Clip -> Q: `WideClip`; so is Q behind DQ, which goes away where both have the same
   scale.
4. DQ -> AveragePool (where padding counts, or is none) or GlobalAveragePool -> Q:
   `WideAveragePool`, `WideGlobalAveragePool`.
5. DQ -> MaxPool -> Q with the same scale: `WideMaxPoolInt16` or `WideMaxPoolUint16`.

No operator of ONNX or com.microsoft takes such activations: see functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from ...ir import dtype_name
from .. import _graph as g
from ._edit import Edit
from ._operands import added, bias_of, integer_bias, product_scale, result_of, weights_of
from ._values import (
    INT8,
    UINT8,
    UINT16,
    WIDE,
    Scaled,
    StaysFloat,
    array_of,
    dequantized,
    floats_of,
    is_kept,
    quantized,
    shape_of,
)
from .functions import call
from .pool import require_counts

_LEAST_SCALE, _GREATEST_SCALE = 2.0**-40, 2.0**10  # of products
_GREATEST_SUM = 2.0**13  # of two inputs' scales next to the result's


def is_wide(node: ir.Node) -> bool:
    """Return True if an input of the node is dequantized from 16 bits."""
    scaled = [dequantized(value) for value in node.inputs]
    return any(q is not None and q.dtype in WIDE for q in scaled)


def _operand(value):
    q = dequantized(value)
    if q is None or q.dtype not in WIDE or q.scale.size > 1:
        raise StaysFloat("an input has no 16 bits of one constant scale")
    return q


def _product(edit, node, op, weights, last, bias):
    """Put WideConv or WideGemm in the place of the Q of a product.

    Args:
        edit: the round.
        node: the product.
        op: Conv or Gemm.
        weights: rows by output channel.
        last: the node that gives the float result.
        bias: float constants, or None.
    """
    x = _operand(node.inputs[0])
    quantize, y = result_of(last, WIDE)
    weights = _signed(edit, weights)
    out, n = quantize.outputs[0].name, shape_of(weights.values)[0]
    scale = np.broadcast_to(product_scale(x, weights), (n,))
    if bias is not None:
        integer_bias(edit, bias, scale, float(y.scale.reshape(())))  # or it stays float
    values = np.zeros(n, np.float32) if bias is None else floats_of(bias).reshape(-1)
    w_scale = np.broadcast_to(weights.scale.reshape(-1), (n,)).astype(np.float32)
    inputs = [*edit.operand(x, out), weights.values]
    inputs += [edit.constant(v, out) for v in (w_scale, values)]
    _put(edit, f"Wide{op}", [*inputs, *edit.parameters(y, out)], quantize, node)
    edit.remove(last)


def _signed(edit, w):
    """Return weights as int8 with zero point 0; uint8 with zero point 128 are converted."""
    if w.dtype == UINT8 and (w.zero == 128).all():
        values = (array_of(w.values).astype(np.int16) - 128).astype(np.int8)
        return Scaled(edit.constant(values, w.values.name), INT8, w.scale, values[:0])
    if w.dtype != INT8 or w.zero.any():
        raise StaysFloat("its weights have a zero point")
    return w


def _conv(edit, node):
    shape = shape_of(node.inputs[1])
    if shape is None or not 3 <= len(shape) <= 4:
        raise StaysFloat("it has more than two dims, or weights of unknown shape")
    last, bias = bias_of(edit, node, shape[0], 1 - len(shape))
    result_of(last, WIDE)
    w = weights_of(edit, node.inputs[1], 0, len(shape))
    if array_of(w.values) is None:
        raise StaysFloat("its weights are not constant")
    _product(edit, node, "Conv", w, last, bias)


def _gemm(edit, node):
    trans_b, alpha, beta = (g.attr(node, k, d) for k, d in _GEMM)
    rank = len(shape_of(node.inputs[0]) or ())
    w = weights_of(edit, node.inputs[1], 1 - trans_b, 2)
    values = array_of(w.values)
    if g.attr(node, "transA", 0) or alpha != 1 or beta != 1 or rank != 2 or values is None:
        raise StaysFloat("its first input is not a matrix of rows, or its second not constant")
    last, bias = node, g.input_of(node, 2)
    if bias is not None and shape_of(bias) not in ([len(values)], [values.shape[1]]):
        raise StaysFloat("its C is not a row")
    if bias is None:
        last, bias = added(edit, node, values.shape[trans_b - 1], -1)
    rows = edit.constant(values if trans_b else values.T, node.outputs[0].name)
    _product(edit, node, "Gemm", Scaled(rows, w.dtype, w.scale, w.zero), last, bias)


_GEMM = (("transB", 0), ("alpha", 1.0), ("beta", 1.0))


def _of_two(edit, node):
    shapes = [shape_of(value) for value in node.inputs]
    if len(shapes) != 2 or shapes[0] is None or shapes[0] != shapes[1]:
        raise StaysFloat("its inputs have different shapes")
    a, b = (_operand(value) for value in node.inputs)
    quantize, y = result_of(node, WIDE)
    if not a.dtype == b.dtype == y.dtype:
        raise StaysFloat("its integers are int16 here and uint16 there")
    if node.op_type == "Mul":
        _require_small(a, b, y)
    elif a.scale.item() + b.scale.item() > _GREATEST_SUM * y.scale.item():
        raise StaysFloat("its scales are far apart")
    out = node.outputs[0].name
    inputs = [value for q in (a, b) for value in edit.operand(q, out)]
    inputs += edit.parameters(y, out)
    _put(edit, f"Wide{node.op_type}", inputs, quantize)
    edit.remove(node)


def _require_small(a, b, y):
    """Raise StaysFloat if the device cannot compute a product with these scales and zero points.

    Args:
        a: the first dequantized operand.
        b: the second dequantized operand.
        y: the quantized product.
    """
    if any((q.zero.astype(np.int32) != (32768 if q.dtype == UINT16 else 0)).any() for q in (a, b)):
        raise StaysFloat("its inputs have zero points")
    scale = float(a.scale.reshape(())) * float(b.scale.reshape(())) / float(y.scale.reshape(()))
    if not _LEAST_SCALE <= scale <= _GREATEST_SCALE:
        raise StaysFloat("its scales are far apart")


def _clip(edit, node):
    x = _operand(node.inputs[0])
    quantize, y = result_of(node, WIDE)
    ends = [np.float32(0 if node.op_type == "Relu" else -np.inf), np.float32(np.inf)]
    if node.op_type == "Clip":
        for i, value in enumerate(node.inputs[1:3]):
            ends[i] = ends[i] if value is None else floats_of(value)
    if edit.opset < 11 and node.attributes or any(v is None or v.size != 1 for v in ends):
        raise StaysFloat("its limits are not constant")
    largest = np.finfo(np.float32).max
    limits = [edit.constant(np.clip(v.reshape(()), -largest, largest), "limit") for v in ends]
    out = node.outputs[0].name
    inputs = [*edit.operand(x, out), *limits]
    _put(edit, "WideClip", [*inputs, *edit.parameters(y, out)], quantize)
    edit.remove(node)


def _rescale(edit, node):
    x, y = _operand(node.inputs[0]), quantized(node)
    if y is None or y.dtype not in WIDE or y.scale.size > 1:
        raise StaysFloat("its result has no 16 bits of one constant scale")
    if x.has_scale_of(y) and not is_kept(node.outputs[0]):
        edit.redirect(node.outputs[0], x.values)
        edit.remove(node)
        return
    largest, out = np.finfo(np.float32).max, node.outputs[0].name
    limits = [edit.constant(v, "limit") for v in (-largest, largest)]
    inputs = [*edit.operand(x, out), *limits]
    _put(edit, "WideClip", [*inputs, *edit.parameters(y, out)], node)


def _mean(edit, node):
    x = _operand(node.inputs[0])
    quantize, y = result_of(node, WIDE)
    is_plain = g.attr(node, "auto_pad", "NOTSET") in ("NOTSET", "VALID")
    counts = not any(g.attr(node, "pads", ())) or g.attr(node, "count_include_pad", 0)
    if not is_plain or not counts or g.attr(node, "ceil_mode", 0):
        raise StaysFloat("it has padding")
    if any(d != 1 for d in g.attr(node, "dilations", ())):
        raise StaysFloat("it has dilations")
    if not 3 <= len(shape_of(node.inputs[0]) or ()) <= 4:
        raise StaysFloat("it has more than two dims")
    require_counts(node)
    out = node.outputs[0].name
    inputs = [*edit.operand(x, out), *edit.parameters(y, out)]
    _put(edit, f"Wide{node.op_type}", inputs, quantize, node)
    edit.remove(node)


def _max_pool(edit, node):
    x = _operand(node.inputs[0])
    quantize, y = result_of(node, WIDE)
    if len(node.outputs) > 1 or not x.has_scale_of(y):
        raise StaysFloat("it changes the scale, or gives indices")
    if not 3 <= len(shape_of(node.inputs[0]) or ()) <= 4:
        raise StaysFloat("it has more than two dims")
    name = f"WideMaxPool{dtype_name(y.dtype).capitalize()}"
    _put(edit, name, [x.values], quantize, node)
    edit.remove(node)


FUSED: dict[str, Callable[[Edit, ir.Node], None]] = {
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


def _put(edit, name, inputs, quantize, like=None):
    """Replace the Q of the result by an operator of integers.

    Args:
        edit: the round.
        name: the operator.
        inputs: its inputs.
        quantize: the Q.
        like: a node whose attributes it gets.
    """
    edit.replace(quantize, [call(edit, name, inputs, quantize.name, like)])
