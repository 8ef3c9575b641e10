"""Emission of the device kernel `qbinary`: sums and products of quantized bytes."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from ..steps.overlap import item_by_item
from ._elementwise import broadcast, runs_of
from ._qweights import scalar, shift_of
from ._requantize import multiplier

_SUM, _PRODUCT = 0, 1
_FRACTION = 16  # bits that the device rounds away at last
_LOW = 10  # bits of a factor beside the 31 that products have
_MOST = 1 << 29


def emit_quantized_sum(node, a: list[Tensor], b: list[Tensor], y: list[Tensor]) -> bool:
    """y = a + b, each as (values, scale, zero point); False if it can't be by integers."""
    known = _known(a, b, y)
    if known is None:
        return False
    (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = known
    ratios = [np.float32(s) / np.float32(y_scale) for s in (a_scale, b_scale)]
    constant = -float(ratios[0]) * a_zero - float(ratios[1]) * b_zero
    reach = 255 * float(sum(ratios)) + abs(constant) + 1
    if not (math.isfinite(reach) and min(ratios) >= 0):
        return False
    bits = min(int(math.log2(_MOST / reach)), 20)
    if bits < _FRACTION:
        return False
    unit = 1 << bits + _LOW
    half = (1 << bits - _FRACTION >> 1) / (1 << bits)
    wide = [round(float(v) * unit) for v in (*ratios, constant + half)]
    high, low = [v >> _LOW for v in wide], [v & ((1 << _LOW) - 1) for v in wide]
    if max(high[:2]) >= 1 << 21:
        return False
    _emit(node, _SUM, a[0], b[0], y[0], [*high, *low, bits - _FRACTION, y_zero])
    return True


def emit_quantized_product(node, a: list[Tensor], b: list[Tensor], y: list[Tensor]) -> bool:
    """y = a * b, each as (values, scale, zero point); False if it can't be by integers."""
    known = _known(a, b, y)
    if known is None:
        return False
    (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = known
    try:
        scale = np.float32(a_scale) * np.float32(b_scale) / np.float32(y_scale)
        word, half = multiplier(float(scale))
    except ValueError:
        return False
    if half or not word:
        return False
    shift = word & 63
    numbers = [a_zero, b_zero, 1 << 25 >> shift, shift, word >> 20, word >> 8 & 4095, y_zero]
    _emit(node, _PRODUCT, a[0], b[0], y[0], numbers)
    return True


def _known(*tensors):
    """[(scale, unsigned zero point)] of each; None where one is not known, or dtypes differ."""
    found = [(scalar(scale), scalar(zero)) for _, scale, zero in tensors]
    if any(None in pair for pair in found) or len({v.dtype for v, _, _ in tensors}) > 1:
        return None
    return [(scale, zero + shift_of(tensors[0][0])) for scale, zero in found]


def _emit(node, op, a, b, out, numbers):
    if 0 in out.shape:
        return
    dims, (a_strides, b_strides) = broadcast(out.shape, a, b)
    runs = runs_of(dims, a_strides, b_strides)
    over = item_by_item(out, [a, b])
    node.emit("qbinary", [a, b], [out], over=over, op=op, numbers=numbers, runs=runs)
