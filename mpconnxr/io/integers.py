"""Quantize an input's numbers, dequantize an output's; imported at the first use of either."""

import struct

from ..arguments import MISFITS
from ..errors import InputError
from .values import Writer, write_all

_tiny = 1e-10  # a variable, so that no compiler folds the sum in doubles of its own
_IS_SINGLE = 1.0 + _tiny == 1.0  # as most boards compute


def quantize(t, x):
    """Fill t with the integers for the numbers x: see Tensor.quantize."""
    _require(t)
    try:
        write_all(_Quantizer(t), x)
    except MISFITS:  # of what is no sequence, not as long as it says, or too deep
        raise InputError("{}: {} numbers are needed".format(t.name, t.nelem))


def dequantize(t):
    """Return a new list of the real numbers that the integers in t represent."""
    _require(t)
    return [(q - t.zero_point) * t.scale for q in t.data]


def _require(t):
    if t.scale is None:
        raise InputError("{}: no scale is known for it".format(t.name))


class _Quantizer(Writer):
    """Write integers that represent numbers, rounded as QuantizeLinear of float32 does."""

    def put(self, value, is_pattern=False):
        try:
            x = single(single(value) / self.t.scale)
            q = _integer_of(x, self.t.zero_point, self.limits)
        except (TypeError, ValueError):  # no number, or nan
            raise InputError("{}: {!r} is not a number".format(self.t.name, value))
        Writer.put(self, q)


def single(x):
    """Return the float32 nearest to a number: firmware with doubles then rounds as others do."""
    if _IS_SINGLE:
        return x
    try:
        return struct.unpack("<f", struct.pack("<f", x * 1.0))[0]
    except OverflowError:  # CPython; MicroPython gives infinity
        return x


def _integer_of(x, zero_point, limits):
    """Return round(x) + zero_point, half to even, within the limits. Raises ValueError for nan."""
    low, high = limits[0] - zero_point, limits[1] - zero_point
    return zero_point + (low if x < low else high if x > high else _rounded(x))


def _rounded(x):
    q = int(x)
    rest = x - q
    if rest > 0.5 or rest == 0.5 and q & 1:
        return q + 1
    if rest < -0.5 or rest == -0.5 and q & 1:
        return q - 1
    return q
