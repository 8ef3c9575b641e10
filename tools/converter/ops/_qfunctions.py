"""Emission of functions of quantized bytes: kernels qbinary, qsoftmax, and lookup by a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..ir import Tensor
from ..steps.overlap import item_by_item, line_by_line
from ._axes import named_lines
from ._dtypes import INT32
from ._elementwise import broadcast, runs_of
from ._qweights import scalar, shift_of
from ._requantize import multiplier, range_of

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


_BITS = 20  # of an exponential at most
_LIMIT = 1 << 29
_ENTRIES = 256  # of the table of exponentials
_PRECISE = 2.0**-13  # of 1 / y_scale: half a step in 2**12 of them


def emit_quantized_softmax(
    node, x: Sequence[Tensor], y: Sequence[Tensor], lines: Sequence[int]
) -> bool:
    """y = softmax(x) along (outer, n, inner), both as (values, scale, zero point).

    False if it can't be by integers.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or known[0] <= 0 or not 2.0**-16 < known[2] < 1:
        return False
    x_scale, _, y_scale, y_zero = known
    factor = 1 / y_scale
    shift = next((s for s in range(8) if _is_whole(factor * 2**s)), None)
    if shift is None:
        return False
    factor = round(factor * 2**shift)
    largest = min(1 << _BITS, _LIMIT // factor, (_LIMIT >> shift) // max(int(lines[1]), 1))
    if largest < 1 << 16:
        return False
    power = min(round(math.exp(-float(np.float32(x_scale))) * 2**30), 2**30 - 1)
    params = {**named_lines(lines), "factor": factor, "shift": shift, "zy": y_zero + shift_of(out)}
    params |= {"largest": largest, "power": [power >> 15, power & 32767]}
    scratch, over = [node.temp(INT32, (_ENTRIES,))], line_by_line(out, values, *lines[1:])
    node.emit("qsoftmax", [values], [out], scratch=scratch, over=over, **params)
    return True


def _is_whole(factor):
    return abs(factor - round(factor)) <= _PRECISE * factor


def emit_table(
    node, x: Sequence[Tensor], y: Sequence[Tensor], function: Callable | None = None
) -> bool:
    """y = quantized(function(x)), both as (values, scale, zero point); False if they aren't known.

    function: of float32 arrays; None: only the scale and zero point change.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or values.itemsize != 1 or out.itemsize != 1:
        return False
    x_scale, x_zero, y_scale, y_zero = known
    q = np.arange(256, dtype=np.uint8).view(values.np_dtype).astype(np.int64)
    with np.errstate(all="ignore"):
        real = (q - x_zero).astype(np.float32) * np.float32(x_scale)
        result = real if function is None else function(real).astype(np.float32)
        quotient = np.nan_to_num(np.rint(result / np.float32(y_scale)))
    table = np.clip(quotient + y_zero, *range_of(out.dtype)).astype(out.np_dtype)
    if out.nelem:
        over = item_by_item(out, [values])
        node.emit("lookup", [values, node.constant(table)], [out], over=over)
    return True
