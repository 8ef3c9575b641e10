"""string_parse: parse numbers from strings.

    out[i] = the number that x[i] spells

Serves Cast from strings (all opsets): decimals, also with an exponent, correctly rounded to the
output's dtype; INF and NAN in any case, with or without a sign; surrounding white space is
ignored. For an integer dtype, digits after the point are dropped.

    x  strings (N) of fixed shape;  out  float32, float64 or any integer dtype (N)
Raises ModelError, and InputError at run time for text that is not a number or is out of range. A
step allocates strings and big integers.
"""

import math

from ..errors import InputError
from ..io.objects import expect_fixed
from ..tensor import range_of

# params: none

OBJECTS = True
# Fraction bits, least exponent, first exponent that overflows.
_BITS = {"float32": (24, -149, 128), "float64": (53, -1074, 1024)}
_DIGITS = "0123456789"
_FARTHEST = 400  # decimal exponents beyond are 0 or inf in every dtype
_MOST_DIGITS = 800  # a tie between two doubles can have 767


def prepare(node):
    node.expect(1, 1, 0)
    x, out = node.inputs[0], node.outputs[0]
    expect_fixed(node, x)
    limits = range_of(out.dtype)
    node.require(limits and out.dtype != "bool" or out.dtype in _BITS, "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes")
    return x.nelem, _Parser(node.name, x.data, out, limits).step


class _Parser:
    def __init__(self, name, x, out, limits):
        self.name, self.x, self.out, self.limits = name, x, out.data, limits
        self.dtype = out.dtype

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self._number(self.x[lo])
            lo += 1

    def _number(self, text):
        text = text.strip().lower()
        negative = text[:1] == "-"
        body = text[1:] if text[:1] in ("+", "-") else text
        try:
            if self.limits:
                return self._integer(body, negative)
            value = float(body) if body in ("inf", "nan") else _float(body, *_BITS[self.dtype])
        except ValueError:
            raise InputError("{}: {!r} is no {}".format(self.name, text[:40], self.dtype))
        return -value if negative else value

    def _integer(self, body, negative):
        digits, exponent = _decimal(body)
        value = digits * 10**exponent if exponent > 0 else digits // 10**-exponent
        if negative:
            value = -value
        if not self.limits[0] <= value <= self.limits[1]:
            raise ValueError
        return value


def _decimal(body):
    """Return (digits, exponent) of the value digits * 10 ** exponent.

    Raises ValueError if the text is not a decimal.
    """
    mantissa, e, exponent = body.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    sign = exponent[:1] if exponent and exponent[:1] in "+-" else ""
    power = exponent[len(sign) :]
    if not digits or e and not power or len(digits) > _MOST_DIGITS:
        raise ValueError
    for c in digits + power:
        if c not in _DIGITS:
            raise ValueError
    power = int(power[-6:] or "0") if len(power.lstrip("0")) < 6 else 99999
    power = (-power if sign == "-" else power) - len(fraction)
    digits = int(digits)
    if not digits:
        return 0, 0
    return digits, min(max(power, -_FARTHEST - _MOST_DIGITS), _FARTHEST)


def _float(body, bits, least, too_large):
    """Return the nearest float, ties to even; `least` is the exponent of the smallest float."""
    digits, power = _decimal(body)
    over, under = digits * 10 ** max(power, 0), 10 ** max(-power, 0)
    if not over:
        return 0.0
    shift = _length(over) - _length(under) - bits
    if over << max(-shift, 0) >= under << bits + max(shift, 0):
        shift += 1
    shift = max(shift, least)
    over, under = over << max(-shift, 0), under << max(shift, 0)
    fraction = over // under
    twice = 2 * (over - fraction * under)
    if twice > under or twice == under and fraction & 1:
        fraction += 1
    if _length(fraction) + shift > too_large:
        return float("inf")
    return math.ldexp(float(fraction), shift)


def _length(n):
    """Return the bits of a positive integer. (MicroPython's integers have no bit_length.)"""
    bits = 0
    while n >> 32:
        n >>= 32
        bits += 32
    while n:
        n >>= 1
        bits += 1
    return bits
