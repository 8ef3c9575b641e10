"""Products of two tensors of bytes that a run computes: kernels qcolumns and qconv.

qcolumns gives the columns of B what weights have that are known at conversion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ._dtypes import UINT8
from ._qdot import emit_qconv
from ._qweights import Geometry, padded, shift_of
from ._requantize import MOST_LEFT, Sums, channel_multipliers, range_of

_MAX_K = 33024  # the device's
_MOST_C = 1 << 26


class Product(NamedTuple):
    """groups: matrices of B; strides: of an item (group, k, column) of B; zeros: unsigned."""

    a: Tensor
    b: Tensor
    groups: int
    geometry: Geometry
    strides: Sequence[int]
    zeros: tuple[int, int]


def product_of(a: Tensor, b: Tensor, a_zero: int, b_zero: int) -> Product | None:
    """a * b over the last two dims of each; None if their batches are of other kinds."""
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
    return Product(a, b, groups, geometry, [k * n, n, 1], zeros)


def _dims(batch):
    """Without ones in front, which broadcast."""
    return batch[next((i for i, n in enumerate(batch) if n != 1), len(batch)) :]


def emit_requantized_product(
    node, product: Product, scale: Sequence[Fraction] | None, out: Tensor, y_zero: int
) -> bool:
    """out (bytes) = the sums times a scale; False if it can't be."""
    if scale is None:
        return False
    (zx, zw), k = product.zeros, product.geometry.counts[2]
    ends = np.outer([-zx, 255 - zx], [-zw, 255 - zw]) * k
    if zx * max(zw, 255 - zw) * k >= _MOST_C:
        return False
    low, high = range_of(out.dtype)
    sums = Sums(*(np.array([v]) for v in (0, ends.min(), ends.max())))
    found = channel_multipliers(scale, sums, low - y_zero, high - y_zero)
    if found.shifts[0] > MOST_LEFT or found.constants[0]:
        return False
    word = int(found.mantissas[0])
    _emit(node, product, int(found.shifts[0]), word, {"zy": y_zero, "low": low, "high": high}, out)
    return True


def emit_integer_product(node, product: Product, out: Tensor) -> bool:
    """out (int32) = the sums; False if they may leave int32."""
    if product.geometry.counts[2] * 255 * 255 >= 1 << 31:
        return False
    _emit(node, product, 0, 0, {"zy": 0, "low": 0, "high": 0}, out)
    return True


def _emit(node, product, shift, word, ends, out):
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
