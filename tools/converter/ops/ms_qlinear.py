"""com.microsoft's QLinear operators: to floats, ONNX's operator, and back, as onnxruntime does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent
from ..shapes.extent_rules import broadcast_dims
from . import MS, OWN, lowers
from ._dtypes import FLOAT, INT32
from ._elementwise import emit_binary, emit_unary
from ._integer import as_dtype, combined
from ._microsoft import as_onnx, like, lower_with, transposed
from ._qfunctions import (
    emit_quantized_product,
    emit_quantized_softmax,
    emit_quantized_sum,
    emit_table,
)
from .matmul_integer import emit_known, emit_product, emit_requantize
from .move import emit_concat
from .quantize import DEQUANTIZE, QUANTIZE, emit_quantize
from .softmax import emit_softmax, softmax_lines


def dequantized(node, first: int) -> Tensor:
    """Inputs first, first + 1, first + 2 (values, scale, zero point) as float32."""
    x = node.inputs[first]
    out = node.temp(FLOAT, x.shape)
    scale, zero = _by_one(node, x, *rest(node, first + 1))
    emit_quantize(node, DEQUANTIZE, x, scale, zero, out)
    return out


def quantize(node, y: Tensor, first: int) -> None:
    """The node's output = y by the scale and zero point in inputs first, first + 1."""
    scale, zero = _by_one(node, y, *rest(node, first))
    emit_quantize(node, QUANTIZE, y, scale, zero, node.outputs[0])


def lower_by_floats(node, lower: Callable, inputs: Sequence[Tensor], first: int) -> None:
    """The lowering of these inputs in float32, its output quantized as by `quantize`."""
    y = node.temp(FLOAT, node.outputs[0].shape)
    lower_with(node, lower, [y], inputs)
    quantize(node, y, first)


def _by_one(node, x, scale, zero):
    """Scale and zero point in a shape that broadcasts to x's."""
    if any(t is not None and t.nelem != 1 for t in (scale, zero)):
        raise Problem("a scale or zero point that is not one number")
    return [t and node.reshaped(t, (1,) if x.shape else ()) for t in (scale, zero)]


def _quantized(node, first):
    """Values, scale and zero point."""
    return [node.inputs[first], *rest(node, first + 1)]


def rest(node, first):
    """Scale and zero point."""
    return [node.inputs[first], node.input(first + 1)]


def _infer_binary(node):
    a, b = node.inputs[0], node.inputs[3]
    if extent.any_open((*a.shape, *b.shape)):
        return [(a.dtype, broadcast_dims(a.shape, b.shape))]
    try:
        return [(a.dtype, np.broadcast_shapes(a.shape, b.shape))]
    except ValueError:
        raise Problem(f"{a} and {b} do not broadcast") from None


@lowers("QLinearAdd", "QLinearMul", domain=MS, infer=_infer_binary)
def lower_binary(node):
    """By integers where scales and zero points are known."""
    emit = {"QLinearAdd": emit_quantized_sum, "QLinearMul": emit_quantized_product}[node.op]
    if emit(node, _quantized(node, 0), _quantized(node, 3), [node.outputs[0], *rest(node, 6)]):
        return
    y = node.temp(FLOAT, node.outputs[0].shape)
    op = {"QLinearAdd": "add", "QLinearMul": "mul"}[node.op]
    emit_binary(node, op, dequantized(node, 0), dequantized(node, 3), y)
    quantize(node, y, 6)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@lowers("QLinearSigmoid", "QLinearLeakyRelu", domain=MS, infer=like(0))
def lower_activation(node):
    """By a table where scales and zero points are known."""
    alpha = np.float32(node.attr("alpha", 0.01))
    function = _sigmoid if node.op == "QLinearSigmoid" else lambda x: np.where(x < 0, alpha * x, x)
    x, out = _quantized(node, 0), [node.outputs[0], *rest(node, 3)]
    if emit_table(node, x, out, function):
        return
    y = node.temp(FLOAT, node.outputs[0].shape)
    if node.op == "QLinearSigmoid":
        emit_unary(node, "sigmoid", dequantized(node, 0), y)
    else:
        emit_unary(node, "leakyrelu", dequantized(node, 0), y, node.attr("alpha", 0.01))
    quantize(node, y, 3)


@lowers("QLinearSoftmax", domain=MS, infer=like(0))
def lower_softmax(node):
    """By integers where scales and zero points are known. Its axis is the last one by default.

    opset: that of the Softmax that was quantized; its meaning changed at 13.
    onnxruntime multiplies by 1 / y_scale, cut to an integer.
    """
    opset = node.attr("opset", 13)
    lines = softmax_lines(node, node.inputs[0], opset, default=-1)
    scale, zero = rest(node, 3)
    if scale.data is not None:
        scale = node.constant(1 / np.floor(1 / scale.data).astype(np.float32))
    if emit_quantized_softmax(node, _quantized(node, 0), [node.outputs[0], scale, zero], lines):
        return
    y = node.temp(FLOAT, node.outputs[0].shape)
    emit_softmax(node, "Softmax", dequantized(node, 0), y, opset, lines)
    if scale.data is None:
        scale = node.reshaped(scale, (1,))
        for op in ("reciprocal", "floor", "reciprocal"):
            inverse, scale = scale, node.temp(FLOAT, scale.shape)
            emit_unary(node, op, inverse, scale)
    scale, zero = _by_one(node, y, scale, zero)
    emit_quantize(node, QUANTIZE, y, scale, zero, node.outputs[0])


@lowers("QLinearSoftmax", domain=OWN, infer=like(0))
def lower_own_softmax(node):
    """What DequantizeLinear, Softmax and QuantizeLinear are: y_scale counts as it is."""
    lines = softmax_lines(node, node.inputs[0], node.onnx_opset)
    out = [node.outputs[0], *rest(node, 3)]
    if not emit_quantized_softmax(node, _quantized(node, 0), out, lines):
        y = node.temp(FLOAT, node.outputs[0].shape)
        emit_softmax(node, "Softmax", dequantized(node, 0), y, node.onnx_opset, lines)
        quantize(node, y, 3)


def _infer_concat(node):
    tensors, axis = node.inputs[2::3], node.attr("axis")
    shape = list(tensors[0].shape)
    shape[axis] = sum(t.shape[axis] for t in tensors)
    return [(node.inputs[1].dtype, shape)]


@lowers("QLinearConcat", domain=MS, infer=_infer_concat)
def lower_concat(node):
    """An input with the output's scale and zero point is copied: another one goes by a table."""
    out, parts = node.outputs[0], []
    y_scale, y_zero = _by_one(node, out, *rest(node, 0))
    for first in range(2, len(node.inputs), 3):
        x = node.inputs[first]
        if not _same(node.inputs[first + 1 : first + 3], node.inputs[:2]):
            x = node.temp(out.dtype, x.shape)
            if not emit_table(node, _quantized(node, first), [x, y_scale, y_zero]):
                emit_quantize(node, QUANTIZE, dequantized(node, first), y_scale, y_zero, x)
        parts.append(x)
    emit_concat(node, parts, out)


def _same(a, b):
    """True if all these are known, and equal."""
    for s, t in zip(a, b, strict=True):
        if s is not t and (s.data is None or t.data is None or s.data != t.data):
            return False
    return True


def stand_in(x: Tensor) -> Tensor:
    return Tensor(x.name, FLOAT, x.shape)


def _infer_gemm(node):
    a, b = stand_in(node.inputs[0]), stand_in(node.inputs[3])
    [(_, shape)] = as_onnx(node, "Gemm", [a, b])
    zero = node.input(8)
    return [(FLOAT if zero is None else zero.dtype, shape)]


@lowers("QGemm", domain=MS, infer=_infer_gemm)
def lower_qgemm(node):
    """(A * B + C) in integers, times alpha * a_scale * b_scale; quantized by y_scale if given."""
    a, a_scale, a_zero, b, b_scale, b_zero = node.inputs[:6]
    c, y_scale = node.input(6), node.input(7)
    a = transposed(node, a, [1, 0] if node.attr("transA", 0) else [0, 1])
    b = transposed(node, b, [1, 0] if node.attr("transB", 0) else [0, 1])
    out = node.outputs[0]
    if (y_scale is None) != (node.input(8) is None):
        raise Problem("y_scale and y_zero_point are given or left out together")
    if y_scale is not None and (c is None or c.nelem == math.prod(c.shape[-1:])):
        scales, zeros = (a_scale, b_scale, y_scale), (a_zero, b_zero, node.inputs[8])
        if emit_known(node, a, b, scales, zeros, c, out, node.attr("alpha", 1.0)):
            return
    product = node.temp(INT32, out.shape)
    emit_product(node, a, b, a_zero, b_zero, product)
    if c is not None:
        product, unbiased = node.temp(INT32, out.shape), product
        emit_binary(node, "add", unbiased, as_dtype(node, c, INT32), product)
    scales = [node.reshaped(t, (t.nelem,)) for t in (a_scale, b_scale)]
    scale = combined(node, "mul", *scales)
    if node.attr("alpha", 1.0) != 1.0:
        scale = combined(node, "mul", scale, node.constant(np.float32(node.attr("alpha"))))
    if y_scale is not None:
        emit_requantize(node, product, scale, y_scale, node.inputs[8])
    else:
        emit_binary(node, "mul", as_dtype(node, product, FLOAT), scale, out)
