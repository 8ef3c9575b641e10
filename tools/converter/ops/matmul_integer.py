"""MatMulInteger and QLinearMatMul -> kernel qconv, else gemm in int32."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from . import lowers
from ._dtypes import FLOAT, INT32
from ._elementwise import emit_binary
from ._integer import as_dtype, centred, combined
from ._qcolumns import emit_integer_product, emit_requantized_product, product_of
from ._qdot import emit_requantized, emit_sums, product_scales
from ._qweights import Geometry, Weights, scalar, unsigned
from .gemm import emit_gemm, matmul_operands, require_fit
from .quantize import QUANTIZE, emit_quantize


@lowers("MatMulInteger")
def lower_matmul_integer(node):
    a, b = node.inputs[:2]
    emit_product(node, a, b, node.input(2), node.input(3), node.outputs[0])


@lowers("QLinearMatMul")
def lower_qlinear_matmul(node):
    """The product's integers, times a_scale * b_scale / y_scale."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.inputs
    out = node.outputs[0]
    if emit_known(node, a, b, (a_scale, b_scale, y_scale), (a_zero, b_zero, y_zero), None, out):
        return
    product = node.temp(INT32, out.shape)
    emit_product(node, a, b, a_zero, b_zero, product)
    rows = (a.shape[-2], 1) if a_scale.nelem > 1 and len(a_scale.shape) == 1 else a_scale.shape
    scale = combined(node, "mul", node.reshaped(a_scale, rows), b_scale)
    emit_requantize(node, product, scale, y_scale, y_zero)


def emit_requantize(node, product: Tensor, scale: Tensor, y_scale: Tensor, y_zero: Tensor) -> None:
    """The node's output = quantized(product * scale)."""
    out = node.outputs[0]
    real = node.temp(FLOAT, out.shape)
    emit_binary(node, "mul", as_dtype(node, product, FLOAT), scale, real)
    one = [node.reshaped(t, (1,)) if t.nelem == 1 else t for t in (y_scale, y_zero)]
    emit_quantize(node, QUANTIZE, real, *one, out)


def emit_known(node, a, b, scales, zeros, bias, out, alpha: float = 1.0) -> bool:
    """out (bytes) = a * b + bias, requantized; False where too little is known for kernel qconv.

    scales, zeros: Tensors of a, b and out. b's scales: one, or one a column of a single matrix.
    bias: int32, one a column, or None.
    """
    a_zero, _, y_zero = (scalar(t) for t in zeros)
    a_scale, y_scale = scalar(scales[0]), scalar(scales[2])
    if b.data is None and bias is None:
        numbers = a_zero, scalar(zeros[1]), y_zero, a_scale, scalar(scales[1]), y_scale
        return _emit_of_two(node, a, b, numbers, out, alpha)
    operands = _operands(a, b, zeros[1], bias)
    if operands is None or any(v is None for v in (a_zero, y_zero, a_scale, y_scale)):
        return False
    if scales[1].data is None or scales[1].nelem not in (1, len(operands[0].rows)):
        return False
    exact = product_scales(a_scale, scales[1].data, y_scale, alpha)
    return emit_requantized(node, a, *operands, a_zero, exact, out, y_zero)


def _emit_of_two(node, a, b, numbers, out, alpha):
    """The same where a run computes b."""
    if any(v is None for v in numbers):
        return False
    a_zero, b_zero, y_zero, a_scale, b_scale, y_scale = numbers
    product = product_of(a, b, a_zero, b_zero)
    if product is None:
        return False
    scale = product_scales(a_scale, np.array([b_scale]), y_scale, alpha)
    return emit_requantized_product(node, product, scale, out, y_zero)


def emit_product(node, a, b, a_zero, b_zero, out):
    """out int32 = (a - a_zero) * (b - b_zero), zero points as scalars, rows or columns."""
    one_zero = a_zero is None or a_zero.nelem == 1
    operands = _operands(a, b, b_zero, None) if one_zero else None
    if b.data is None and None not in (numbers := (scalar(a_zero), scalar(b_zero))):
        product = product_of(a, b, *numbers)
        if product is not None and emit_integer_product(node, product, out):
            return
    zero = a_zero and one_zero and node.reshaped(a_zero, (1,)) or None
    if operands and emit_sums(node, a, *operands, zero, out):
        return
    rows = None if one_zero or len(a_zero.shape) != 1 else (a.shape[-2], 1)
    a, b = centred(node, a, a_zero, rows), centred(node, b, b_zero)
    a, w, shape, steps = matmul_operands(node, a, b)
    emit_gemm(node, a, w, out, shape, False, steps)


def _operands(a: Tensor, b: Tensor, b_zero, bias) -> tuple[Weights, Geometry] | None:
    """The columns of b as channels, the rows of a as positions; None where b is not known so."""
    zero = scalar(b_zero)
    if b.data is None or zero is None or a.itemsize != 1 or (bias and bias.data is None):
        return None
    matrices = b.data.reshape(b.shape if b.data.ndim > 1 else (-1, 1))
    *batch, k, n = matrices.shape
    *a_batch, rows, length = a.shape if len(a.shape) > 1 else (1, *a.shape)
    require_fit(a, b, (length, k))
    groups = math.prod(batch)
    if groups == 1:
        rows *= math.prod(a_batch)
    elif math.prod(a_batch) != 1 and a_batch != batch or bias is not None:
        return None
    x_group = 0 if math.prod(a_batch) == 1 else rows * k
    columns = unsigned(matrices).swapaxes(-1, -2).reshape(groups * n, k)
    constants = np.zeros(1, np.int64) if bias is None else bias.data.astype(np.int64).reshape(-1)
    if len(constants) not in (1, groups * n) or 0 in a.shape:
        return None
    shift = 128 if b.data.dtype == np.int8 else 0
    counts = [1, groups, k, 1, rows, n, 1, 1, 1, rows]
    geometry = Geometry(counts, [0, x_group, 1, 0, k], [0, rows * n, 1, n])
    return Weights(columns, zero + shift, constants), geometry
