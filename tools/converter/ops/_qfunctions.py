"""Emission of functions of quantized bytes: kernels qbinary, qsoftmax, qnormalize and lookup.

Tensors are passed as (values, scale, zero point). Each function returns False if it emits nothing,
because a scale or zero point is unknown, or integers of 32 bits cannot represent the result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ..ir import Tensor
from ..shapes.extent import exact_quotient, is_open
from ..steps.overlap import element_leads, line_leads
from ._axes import named_lines
from ._dtypes import INT32
from ._elementwise import broadcast, runs_of
from ._extents import matched
from ._qdot import product_scales
from ._qweights import scalar, shift_of
from ._requantize import MOST_LEFT, Sums, channel_multipliers, range_of

_SUM, _PRODUCT = 0, 1
_MIN_BITS, _MAX_BITS = 16, 20  # fractional bits of a sum
_LOW = 10  # bits of a factor below the 31 that products have
_MAX_SUM = 1 << 29


def emit_quantized_sum(node, a: list[Tensor], b: list[Tensor], y: list[Tensor]) -> bool:
    """Emit y = a + b, all (tensor, scale, zero point); return False if integers cannot."""
    known = _known(a, b, y)
    if known is None:
        return False
    (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = known
    ratios = product_scales(1, np.array([a_scale, b_scale]), y_scale)
    if ratios is None:
        return False
    bits = min(int(math.log2(_MAX_SUM / (510 * float(sum(ratios)) + 1))), _MAX_BITS)
    if bits < _MIN_BITS:
        return False
    factors = _factors(ratios, (a_zero, b_zero), y_zero, bits)
    wide = [*factors, -factors[0] * a_zero - factors[1] * b_zero]
    high, low = [v >> _LOW for v in wide], [v & ((1 << _LOW) - 1) for v in wide]
    if max(high[:2]) >= 1 << 21:
        return False
    _emit(node, _SUM, a[0], b[0], y[0], [*high, *low, bits, y_zero])
    return True


def _factors(
    ratios: Sequence[Fraction], zeros: Sequence[int], y_zero: int, bits: int
) -> tuple[int, int]:
    """Return integer factors that round each sum of two bytes as the exact ratios do.

    They are the nearest factors or neighbours of them. If none of these round all sums correctly,
    as for ratios such as 1/6 where sums lie halfway, the factors with the fewest errors are
    returned.

    Args:
        ratios: exact ratios of the inputs' scales to the output's.
        zeros: zero points of the inputs.
        y_zero: zero point of the output.
        bits: the factors' unit is 2**-(bits + _LOW).
    """
    unit = 1 << bits + _LOW
    a, b = np.arange(256)[:, None] - zeros[0], np.arange(256) - zeros[1]
    real = a * float(ratios[0]) + b * float(ratios[1])
    are_near = np.abs(real % 1 - 0.5) < 2.0**-bits  # others round alike with all factors
    are_near &= (real >= -1 - y_zero) & (real <= 256 - y_zero)
    i, j = np.nonzero(are_near)
    a, b = a[i, 0].astype(object), b[j].astype(object)
    denominator = math.lcm(*(r.denominator for r in ratios))
    exact = (int(r * denominator) for r in ratios)
    expected = _to_even(sum(n * v for n, v in zip(exact, (a, b), strict=True)), denominator)
    nearest = [round(r * unit) for r in ratios]
    neighbours = sorted(itertools.product(range(-2, 3), repeat=2), key=lambda d: np.abs(d).sum())
    candidates = []
    for more in neighbours:
        factors = [n + d for n, d in zip(nearest, more, strict=True)]
        wrong = np.count_nonzero(_to_even(factors[0] * a + factors[1] * b, unit) != expected)
        candidates.append((wrong, factors))
        if not wrong:
            break
    return min(candidates, key=lambda f: f[0])[1]


def _to_even(numerators: np.ndarray, denominator: int) -> np.ndarray:
    """Return quotients of integers of any size (dtype object), rounded half to even."""
    whole, rest = numerators // denominator, numerators % denominator
    return whole + (2 * rest + whole % 2 > denominator)


def emit_quantized_product(node, a: list[Tensor], b: list[Tensor], y: list[Tensor]) -> bool:
    """Emit y = a * b, all (tensor, scale, zero point); return False if integers cannot."""
    known = _known(a, b, y)
    if known is None:
        return False
    (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = known
    scales = product_scales(a_scale, np.array([b_scale]), y_scale)
    if scales is None:
        return False
    ends = np.outer([-a_zero, 255 - a_zero], [-b_zero, 255 - b_zero])
    sums = Sums(*(np.array([v]) for v in (0, ends.min(), ends.max())))
    multipliers = channel_multipliers(scales, sums, -y_zero, 255 - y_zero)
    shift, mantissa = int(multipliers.shifts[0]), int(multipliers.mantissas[0])
    if shift > MOST_LEFT:
        return False
    numbers = [a_zero, b_zero, 1 << 25 >> shift, shift, mantissa >> 15, mantissa & 32767, y_zero]
    _emit(node, _PRODUCT, a[0], b[0], y[0], numbers)
    return True


def _known(*tensors):
    """Return (scale, unsigned zero point) of each; None if one is unknown or dtypes differ."""
    constants = [(scalar(scale), scalar(zero)) for _, scale, zero in tensors]
    if any(None in pair for pair in constants) or len({v.dtype for v, _, _ in tensors}) > 1:
        return None
    return [(scale, zero + shift_of(tensors[0][0])) for scale, zero in constants]


def _emit(node, op, a, b, out, numbers):
    if 0 in out.shape:
        return
    a, b = matched(node, a, out.shape), matched(node, b, out.shape)
    dims, (a_strides, b_strides) = broadcast(out.shape, a, b)
    runs = runs_of(dims, a_strides, b_strides)
    over = element_leads(out, [a, b])
    node.emit("qbinary", [a, b], [out], over=over, op=op, numbers=numbers, runs=runs)


_BITS = 20  # of an exponential, at most
_LIMIT = 1 << 29
_ENTRIES = 256  # of the table of exponentials
_PRECISE = 2.0**-13  # relative error of 1 / y_scale: half a step in 2**12 steps


def emit_quantized_softmax(
    node, x: Sequence[Tensor], y: Sequence[Tensor], lines: Sequence[int]
) -> bool:
    """Emit y = softmax(x), both (tensor, scale, zero point); return False if integers cannot.

    lines: (outer, n, inner), with the softmax along n.
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
    scratch, over = [node.temp(INT32, (_ENTRIES,))], line_leads(out, values, *lines[1:])
    node.emit("qsoftmax", [values], [out], scratch=scratch, over=over, **params)
    return True


def _is_whole(factor):
    return abs(factor - round(factor)) <= _PRECISE * factor


_MAX_NELEM = 0x7FFF  # of a row that is normalized
_VALUE_BITS = 25  # of an element divided by the deviation, if only one element of the row varies
_FACTOR = 1 << 30
_SUMMAND = 1 << 29
_MIN_POINT, _MAX_POINT = 10, 20  # fractional bits
_ROWS = 16  # rows that one call normalizes


def emit_quantized_norm(
    node, x: Sequence[Tensor], y: Sequence[Tensor], scale: np.ndarray, bias: np.ndarray
) -> bool:
    """Emit y = (x - mean) / deviation * scale + bias by row; return False if integers cannot.

    Args:
        node: the node to lower, which has epsilon.
        x: (tensor, scale, zero point).
        y: (tensor, scale, zero point).
        scale: floats, as many as a row of x has elements.
        bias: floats, likewise.
    """
    (values, *of_x), (out, *of_y), n = x, y, len(scale)
    known, epsilon = [scalar(t) for t in (*of_x, *of_y)], float(node.attr("epsilon", 1e-5))
    if any(v is None for v in known) or values.dtype != out.dtype or not 0 < n <= _MAX_NELEM:
        return False
    x_scale, y_scale, y_zero = known[0], known[2], known[3] + shift_of(out)
    if not (0 < x_scale < math.inf and 0 < y_scale < math.inf and 0 <= epsilon < math.inf):
        return False
    point = _VALUE_BITS - math.ceil(math.log2(n) / 2)  # of an element divided by the deviation
    ratio, summand = (v.astype(np.float64) / y_scale for v in (scale, bias))
    summand = summand + y_zero + 0.5
    if not (np.isfinite(ratio).all() and np.isfinite(summand).all()):
        return False
    bits = _MAX_POINT
    while bits >= _MIN_POINT:
        factors = np.rint(np.ldexp(ratio, 27 + bits - point))
        summands = np.rint(np.ldexp(summand, bits))
        if np.abs(factors).max() < _FACTOR and np.abs(summands).max() < _SUMMAND:
            break
        bits -= 1
    mantissa, exponent = math.frexp(epsilon * (n / x_scale) ** 2)
    if bits < _MIN_POINT or not -90 < exponent < 90:
        return False
    words = np.stack([factors + _FACTOR, summands + _SUMMAND], 1).astype(np.int32)
    rows = exact_quotient(values.nelem, n)
    piece = _ROWS if is_open(rows) else min(rows, _ROWS)
    scratch = [node.temp(INT32, (2 * n + 4 * piece,))]
    n_bits, before = (n - 1).bit_length(), max(n.bit_length() - 7, 0)
    params = {"lines": rows, "n": n, "piece": piece, "shift": 37 - point - n_bits, "point": bits}
    params |= {"epsilon": [int(mantissa * (1 << 30)), 1024 + exponent - 30], "bits": n_bits}
    params["inverse"] = [(1 << 15 + n_bits) // n, before, 15 + n_bits - before]
    over = element_leads(out, [values])
    inputs = [values, node.constant(words)]
    node.emit("qnormalize", inputs, [out], scratch=scratch, over=over, **params)
    return True


def emit_table(
    node, x: Sequence[Tensor], y: Sequence[Tensor], function: Callable | None = None
) -> bool:
    """Emit y = function(x) as a table of 256 bytes; return False if x and y are no known bytes.

    Args:
        node: the node to lower.
        x: (tensor, scale, zero point).
        y: (tensor, scale, zero point).
        function: function of real numbers; None if only scale and zero point change.
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
    if 0 not in out.shape:
        over = element_leads(out, [values])
        node.emit("lookup", [values, node.constant(table)], [out], over=over)
    return True
