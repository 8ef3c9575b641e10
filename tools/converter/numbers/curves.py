"""Approximate functions by tables of polynomials for the kernel curve.

A function is given by two Halves, for x >= 0 and for x < 0, in terms of u = |x|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

# Kinds of segments, by the part of |f| that the polynomial computes.
VALUE, POWER, FACTOR, FACTOR_POWER = range(4)
DEGREE = 5
SEGMENT = DEGREE + 2  # words
TABLE_BITS = 21  # low bits of the mantissa, which do not choose the segment
_BIAS = 1 << 30
_POINT = 22  # fraction bits of an exponent
_EXPONENT = 512
_TOLERANCE = 1.5e-7
_LARGEST = 8  # log2 of the end of any first segment
_FINEST = 6
_MARGIN = 1.0001  # for rounding: the loop cannot take 2**30


@dataclass(frozen=True)
class Half:
    """|f| for x of one sign, as a function of u = |x|.

    Attributes:
        rest: (kind, function) of all segments but the first.
        until: value of u from which on |f| is `end`.
        end: (kind, constant).
        limit: |f| at infinity.
        near: (kind, function) of the first segment, which begins at 0; by default like `rest`.
        slope: d log2|f| / du that segments of kind POWER omit.
        negative: f is negative.
    """

    rest: tuple[int, Function]
    until: float
    end: tuple[int, float]
    limit: float
    near: tuple[int, Function] | None = None
    slope: float = 0.0
    negative: bool = False


@dataclass
class Table:
    """Parameters and words of the kernel curve.

    Attributes:
        params: parameters by name; the two halves are dicts.
        words: words of all segments.
        error: largest relative error of a polynomial.
    """

    params: dict[str, Any] = field(default_factory=dict)
    words: list[int] = field(default_factory=list)
    error: float = 0.0


def table_of(positive: Half, negative: Half) -> Table:
    """Return the table of a function; its halves may share their segments."""
    table = Table()
    table.params["powers"] = 0
    first: dict = {}
    for name, half in (("positive", positive), ("negative", negative)):
        key = (half.rest, half.near, half.until, half.end)
        if key not in first:
            first[key] = (len(table.words) // SEGMENT, *_segments(table, half))
        at, low, high = first[key]
        point = point_of(half.slope) if half.slope else 0
        slope = round(abs(half.slope) * 2.0 ** (52 - point))
        limit = float_bits(2.0 ** (30 - point) if slope else math.inf)
        table.params[name] = {
            "low": low,
            "high": high,
            "end": limit,
            "first": at,
            "slope": slope,
            "point": point,
            "flags": int(half.negative) + 2 * (half.slope < 0),
            "limit": float_bits(half.limit),
        }
    powers = any(kind & 1 for half in (positive, negative) for kind in _kinds(half))
    if powers:
        table.params["powers"] = len(table.words) // SEGMENT
    for i in range(4 if powers else 0):
        _append(table, VALUE, _part(np.exp2, i / 4, (i + 1) / 4))
    return table


def float_bits(value: float) -> int:
    """Return the bits of a float32 as an int."""
    return int(np.float32(value).view(np.int32))


def _kinds(half):
    return [half.rest[0], half.end[0], (half.near or half.rest)[0]]


def point_of(slope: float) -> int:
    """Return the fraction bits of |x| in 30 bits, so that the slope has 29 or 30 bits too."""
    return 23 + math.frexp(abs(slope))[1] - 1


def reaches_limit(slope: float) -> bool:
    """Return True if |x| * 2**(slope * |x|) is 0 or inf as soon as |x| exceeds its 30 bits."""
    largest = 30 - point_of(slope)
    return abs(slope) * 2.0**largest - abs(largest) > 151


def _segments(table, half):
    """Append the segments of a half; return the float32 bits at which they begin and end."""
    near_kind, near = half.near or half.rest
    begin = float_bits(_nearest(near_kind, near, half.until))
    end = max(begin, -(-float_bits(half.until) >> TABLE_BITS) << TABLE_BITS)
    _append(table, near_kind, _part(near, 0.0, _float(begin)))
    kind, function = half.rest
    for bits in range(begin, end, 1 << TABLE_BITS):
        _append(table, kind, _part(function, _float(bits), _float(bits + (1 << TABLE_BITS))))
    kind, value = half.end
    _append(table, kind, lambda t: np.full_like(t, value))
    return begin, end


def _nearest(kind, near, until):
    """Return the power of two at which the first segment ends."""
    end = 2.0 ** min(_LARGEST, math.frexp(until)[1] - 1)
    while _fit(kind, _part(near, 0.0, end))[1] > _TOLERANCE:
        end /= 2
    return end


def _part(function, lo, hi):
    """Return the function on [lo, hi] as a function on [0, 1]."""
    return lambda t: function(lo + t * (hi - lo))


def _float(bits):
    return float(np.int32(bits).view(np.float32))


def _append(table, kind, function):
    words, error = _fit(kind, function)
    table.words += words
    table.error = max(table.error, error)


def _fit(kind, function):
    """Return the words of a segment and its error, relative or of log2.

    Partial sums stay below 2**30 as well.
    """
    nodes = (1 - np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))) / 2
    t = np.linspace(0, 1, 65)
    values = function(t)
    power = np.linalg.solve(np.vander(nodes), function(nodes))
    error = float(np.max(np.abs(np.polyval(power, t) - values)))
    largest = max(float(np.max(np.abs(values))), 1e-300)
    largest_sum = max(
        *(float(np.max(np.abs(np.polyval(power[:n], t)))) for n in range(1, SEGMENT)), 1e-300
    )
    if kind & 1:
        error *= math.log(2)
        number = min(max(30 - math.frexp(largest_sum * _MARGIN)[1] - _POINT, 0), _FINEST)
        unit = 2.0 ** (_POINT + number)
    else:
        error /= largest
        exponent = max(math.frexp(largest_sum * _MARGIN)[1], -400)
        number, unit = exponent + _EXPONENT, 2.0 ** (30 - exponent)
    words = [min(round(c * unit), _BIAS - 1) + _BIAS for c in power]
    return [kind + 4 * number, *words], error
