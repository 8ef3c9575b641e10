"""Lower MatMulInteger and QLinearMatMul to kernel qconv, or to gemm in int32.

If only a run knows B, kernel qcolumns packs its columns as weights that are known are packed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._dtypes import FLOAT, INT32, UINT8
from ._elementwise import emit_binary
from ._integer import as_dtype, centred, combined
from ._qdot import emit_qconv, emit_requantized, emit_sums, product_scales
from ._qweights import Geometry, Weights, padded, scalar, shift_of, unsigned
from ._requantize import MOST_LEFT, Sums, channel_multipliers, range_of
from .gemm import emit_gemm, matmul_operands, require_fit
from .quantize import QUANTIZE, emit_quantize

_MAX_K = 33024  # the kernel's limit
_MAX_CONSTANT = 1 << 26


@lowers("MatMulInteger")
def lower_matmul_integer(node):
    a, b = node.inputs[:2]
    emit_product(node, a, b, node.input(2), node.input(3), node.outputs[0])


@lowers("QLinearMatMul")
def lower_qlinear_matmul(node):
    """Lower QLinearMatMul: integer sums times a_scale * b_scale / y_scale."""
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
    """Emit the node's output = quantized(product * scale), computed in floats.

    Args:
        node: the node to lower.
        product: int32.
        scale: float32, the scale of the product.
        y_scale: scale of the output.
        y_zero: zero point of the output.
    """
    out = node.outputs[0]
    real = node.temp(FLOAT, out.shape)
    emit_binary(node, "mul", as_dtype(node, product, FLOAT), scale, real)
    one = [node.reshaped(t, (1,)) if t.nelem == 1 else t for t in (y_scale, y_zero)]
    emit_quantize(node, QUANTIZE, real, *one, out)


def emit_known(node, a, b, scales, zeros, bias, out, alpha: float = 1.0) -> bool:
    """Emit out (bytes) = a * b + bias by kernel qconv; return False if too little is known.

    Args:
        node: the node to lower.
        a: matrices of bytes.
        b: matrices of bytes.
        scales: scales of a, b and out; b may have one for each column of a single matrix.
        zeros: zero points of a, b and out.
        bias: int32, one for each column, or None.
        out: the output.
        alpha: a factor of the product.
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
    """Emit out = a * b if only a run knows b; return False if scales are unknown.

    Args:
        node: the node to lower.
        a: matrices of bytes.
        b: matrices of bytes.
        numbers: zero points of a, b and out, then their scales; None for unknown ones.
        out: the output.
        alpha: a factor of the product.
    """
    if any(v is None for v in numbers):
        return False
    a_zero, b_zero, y_zero, a_scale, b_scale, y_scale = numbers
    product = _product_of(a, b, a_zero, b_zero)
    if product is None:
        return False
    scale = product_scales(a_scale, np.array([b_scale]), y_scale, alpha)
    return _emit_requantized_product(node, product, scale, out, y_zero)


def emit_product(node, a, b, a_zero, b_zero, out):
    """Emit out (int32) = (a - a_zero) * (b - b_zero).

    Args:
        node: the node to lower.
        a: matrices of bytes.
        b: matrices of bytes.
        a_zero: zero point of a, of all or of each row; or None.
        b_zero: zero point of b, of all or of each column; or None.
        out: the output.
    """
    one_zero = a_zero is None or a_zero.nelem == 1
    operands = _operands(a, b, b_zero, None) if one_zero else None
    if b.data is None and None not in (numbers := (scalar(a_zero), scalar(b_zero))):
        product = _product_of(a, b, *numbers)
        if product is not None and _emit_integer_product(node, product, out):
            return
    zero = a_zero and one_zero and node.reshaped(a_zero, (1,)) or None
    if operands and emit_sums(node, a, *operands, zero, out):
        return
    rows = None if one_zero or len(a_zero.shape) != 1 else (a.shape[-2], 1)
    a, b = centred(node, a, a_zero, rows), centred(node, b, b_zero)
    a, w, shape, steps = matmul_operands(node, a, b)
    emit_gemm(node, a, w, out, shape, False, steps)


def _operands(a: Tensor, b: Tensor, b_zero, bias) -> tuple[Weights, Geometry] | None:
    """Return b as weights (columns are channels) and a as positions (its rows).

    Returns None if b is unknown.
    """
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


class _Product(NamedTuple):
    """A product a * b over the last two dimensions of each.

    Attributes:
        groups: number of matrices in B.
        strides: strides of B by (group, k, column) [elements].
        zeros: zero points of a and b, as unsigned integers.
    """

    a: Tensor
    b: Tensor
    groups: int
    geometry: Geometry
    strides: Sequence[int]
    zeros: tuple[int, int]


def _product_of(a: Tensor, b: Tensor, a_zero: int, b_zero: int) -> _Product | None:
    """Return the _Product a * b over the last two dims; None if their batches do not match."""
    if a.itemsize != 1 or b.itemsize != 1 or min(len(a.shape), len(b.shape)) < 2:
        return None
    if any_open((*a.shape, *b.shape)) or 0 in (*a.shape, *b.shape):
        return None
    (*a_batch, rows, k), (*batch, _, n) = a.shape, b.shape
    groups = math.prod(batch)
    if groups == 1:
        rows *= math.prod(a_batch)
    elif math.prod(a_batch) != 1 and _dims(a_batch) != _dims(batch):
        return None
    if k > _MAX_K:
        return None
    x_group = 0 if math.prod(a_batch) == 1 or groups == 1 else rows * k
    counts = [1, groups, k, 1, rows, n, 1, 1, 1, rows]
    geometry = Geometry(counts, [0, x_group, 1, 0, k], [0, rows * n, 1, n])
    zeros = a_zero + shift_of(a), b_zero + shift_of(b)
    return _Product(a, b, groups, geometry, [k * n, n, 1], zeros)


def _dims(batch):
    """Return the dimensions without leading ones, which broadcast."""
    return batch[next((i for i, n in enumerate(batch) if n != 1), len(batch)) :]


def _emit_requantized_product(
    node, product: _Product, scale: Sequence[Fraction] | None, out: Tensor, y_zero: int
) -> bool:
    """Emit out (bytes) = sums * scale + y_zero; return False if integers cannot.

    Args:
        node: the node to lower.
        product: the _Product.
        scale: a fraction, or None if it is unusable.
        out: the output.
        y_zero: zero point of the output.
    """
    if scale is None:
        return False
    (zx, zw), k = product.zeros, product.geometry.counts[2]
    ends = np.outer([-zx, 255 - zx], [-zw, 255 - zw]) * k
    if zx * max(zw, 255 - zw) * k >= _MAX_CONSTANT:
        return False
    low, high = range_of(out.dtype)
    sums = Sums(*(np.array([v]) for v in (0, ends.min(), ends.max())))
    multipliers = channel_multipliers(scale, sums, low - y_zero, high - y_zero)
    if multipliers.shifts[0] > MOST_LEFT or multipliers.constants[0]:
        return False
    word = int(multipliers.mantissas[0])
    _emit_product(
        node,
        product,
        int(multipliers.shifts[0]),
        word,
        {"zy": y_zero, "low": low, "high": high},
        out,
    )
    return True


def _emit_integer_product(node, product: _Product, out: Tensor) -> bool:
    """Emit out (int32) = the sums of a product; return False if these may exceed int32."""
    if product.geometry.counts[2] * 255 * 255 >= 1 << 31:
        return False
    _emit_product(node, product, 0, 0, {"zy": 0, "low": 0, "high": 0}, out)
    return True


def _emit_product(node, product, shift, word, ends, out):
    """Emit qcolumns, which packs the columns of b as weights, then qconv.

    Args:
        node: the node to lower.
        product: the _Product.
        shift: shift of the requantization.
        word: its multiplier.
        ends: the smallest and the largest result, as for emit_qconv.
        out: the output.
    """
    (zx, zw), geometry = product.zeros, product.geometry
    k, m = geometry.counts[2], geometry.counts[5]
    columns = node.temp(UINT8, (product.groups * m * (8 + padded(k)),))
    node.emit(
        "qcolumns",
        [product.b],
        [columns],
        g=product.groups,
        k=k,
        m=m,
        strides=product.strides,
        zx=zx,
        zw=zw,
        shift=shift,
        multiplier=[word >> 15, word & 32767],
    )
    emit_qconv(node, [product.a], columns, zw, geometry, zx, ends, out)
