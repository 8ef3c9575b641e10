"""Lower com.microsoft's QLinear operators.

Integers compute them if scales and zero points are known, else the operator in floats between
DequantizeLinear and QuantizeLinear, as in onnxruntime.
"""

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
    """Return inputs first .. first + 2 (values, scale, zero point) as float32."""
    x = node.inputs[first]
    out = node.temp(FLOAT, x.shape)
    scale, zero = _broadcastable(node, x, *scale_and_zero(node, first + 1))
    emit_quantize(node, DEQUANTIZE, x, scale, zero, out)
    return out


def quantize(node, y: Tensor, first: int) -> None:
    """Emit the node's output = y by the scale and zero point in inputs first and first + 1."""
    scale, zero = _broadcastable(node, y, *scale_and_zero(node, first))
    emit_quantize(node, QUANTIZE, y, scale, zero, node.outputs[0])


def lower_by_floats(node, lower: Callable, inputs: Sequence[Tensor], first: int) -> None:
    """Lower a node by another lowering in float32, and quantize its output.

    Args:
        node: the node to lower.
        lower: the lowering.
        inputs: its inputs, in float32.
        first: index of the input with the output's scale; its zero point follows.
    """
    y = node.temp(FLOAT, node.outputs[0].shape)
    lower_with(node, lower, [y], inputs)
    quantize(node, y, first)


def _broadcastable(node, x, scale, zero):
    """Return scale and zero point in a shape that broadcasts to x."""
    if any(t is not None and t.nelem != 1 for t in (scale, zero)):
        raise Problem("a scale or zero point that is not one number")
    return [t and node.reshaped(t, (1,) if x.shape else ()) for t in (scale, zero)]


def _quantized(node, first):
    """Return (values, scale, zero point) in inputs first .. first + 2."""
    return [node.inputs[first], *scale_and_zero(node, first + 1)]


def scale_and_zero(node, first):
    """Return scale and zero point in inputs first and first + 1."""
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
    emit = {"QLinearAdd": emit_quantized_sum, "QLinearMul": emit_quantized_product}[node.op]
    if emit(
        node, _quantized(node, 0), _quantized(node, 3), [node.outputs[0], *scale_and_zero(node, 6)]
    ):
        return
    y = node.temp(FLOAT, node.outputs[0].shape)
    op = {"QLinearAdd": "add", "QLinearMul": "mul"}[node.op]
    emit_binary(node, op, dequantized(node, 0), dequantized(node, 3), y)
    quantize(node, y, 6)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@lowers("QLinearSigmoid", "QLinearLeakyRelu", domain=MS, infer=like(0))
def lower_activation(node):
    """Lower to a table if scales and zero points are known."""
    alpha = np.float32(node.attr("alpha", 0.01))
    function = _sigmoid if node.op == "QLinearSigmoid" else lambda x: np.where(x < 0, alpha * x, x)
    x, out = _quantized(node, 0), [node.outputs[0], *scale_and_zero(node, 3)]
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
    """Lower QLinearSoftmax along its axis, by default the last one.

    Attribute opset is the version of the Softmax that was quantized, whose meaning changed at 13.
    onnxruntime multiplies by 1 / y_scale, truncated to an integer.
    """
    opset = node.attr("opset", 13)
    lines = softmax_lines(node, node.inputs[0], opset, default=-1)
    scale, zero = scale_and_zero(node, 3)
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
    scale, zero = _broadcastable(node, y, scale, zero)
    emit_quantize(node, QUANTIZE, y, scale, zero, node.outputs[0])


@lowers("QLinearSoftmax", domain=OWN, infer=like(0))
def lower_own_softmax(node):
    """Lower to DequantizeLinear, Softmax and QuantizeLinear with the exact y_scale."""
    lines = softmax_lines(node, node.inputs[0], node.onnx_opset)
    out = [node.outputs[0], *scale_and_zero(node, 3)]
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
    """Lower QLinearConcat. Inputs with the output's scale and zero point are only copied."""
    out, parts = node.outputs[0], []
    y_scale, y_zero = _broadcastable(node, out, *scale_and_zero(node, 0))
    for first in range(2, len(node.inputs), 3):
        x = node.inputs[first]
        if not _are_same(node.inputs[first + 1 : first + 3], node.inputs[:2]):
            x = node.temp(out.dtype, x.shape)
            if not emit_table(node, _quantized(node, first), [x, y_scale, y_zero]):
                emit_quantize(node, QUANTIZE, dequantized(node, first), y_scale, y_zero, x)
        parts.append(x)
    emit_concat(node, parts, out)


def _are_same(a, b):
    """Return True if all tensors are known and equal."""
    for s, t in zip(a, b, strict=True):
        if s is not t and (s.data is None or t.data is None or s.data != t.data):
            return False
    return True


def as_float_input(x: Tensor) -> Tensor:
    """Return a float32 tensor with the name and shape of x, for shape inference."""
    return Tensor(x.name, FLOAT, x.shape)


def _infer_gemm(node):
    a, b = as_float_input(node.inputs[0]), as_float_input(node.inputs[3])
    [(_, shape)] = as_onnx(node, "Gemm", [a, b])
    zero = node.input(8)
    return [(FLOAT if zero is None else zero.dtype, shape)]


@lowers("QGemm", domain=MS, infer=_infer_gemm)
def lower_qgemm(node):
    """Lower QGemm: (A * B + C) in integers, times alpha * a_scale * b_scale.

    It is quantized by y_scale if that is present.
    """
    a, a_scale, a_zero, b, b_scale, b_zero = node.inputs[:6]
    c, y_scale = node.input(6), node.input(7)
    a = transposed(node, a, [1, 0] if node.attr("transA", 0) else [0, 1])
    b = transposed(node, b, [1, 0] if node.attr("transB", 0) else [0, 1])
    out = node.outputs[0]
    if (y_scale is None) != (node.input(8) is None):
        raise Problem("y_scale and y_zero_point must both be present or absent")
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
