"""Floats of 16 bits and fewer: decode their patterns, and encode the nearest number.

MicroPython has no such floats, so tensors hold their bits. Imported only where they are used.
Rounding, saturation and special values are those of ONNX's Cast.
"""

import math

INF = float("inf")
NAN = float("nan")
_EXACT = 1 << 24  # float32 holds all integers up to this

# How Cast to float8e8m0 rounds: away from zero, towards it, to the nearest (ties away).
UP, DOWN, NEAREST = 0, 1, 2

# Bits of the mantissa; exponent of the least normal number; patterns, sign left out, of the
# greatest number, of infinity (NaN where there is none, the greatest number where neither is) and
# of NaN (-0 where there is none); bit of the sign.
_KINDS = {
    "float16": (10, -14, 0x7BFF, 0x7C00, 0x7E00, 0x8000),
    "bfloat16": (7, -126, 0x7F7F, 0x7F80, 0x7FC0, 0x8000),
    "float8e4m3fn": (3, -6, 0x7E, 0x7F, 0x7F, 0x80),
    "float8e4m3fnuz": (3, -7, 0x7F, 0x80, 0x80, 0x80),
    "float8e5m2": (2, -14, 0x7B, 0x7C, 0x7E, 0x80),
    "float8e5m2fnuz": (2, -15, 0x7F, 0x80, 0x80, 0x80),
    "float6e2m3": (3, 0, 0x1F, 0x1F, 0x20, 0x20),
    "float6e3m2": (2, -2, 0x1F, 0x1F, 0x20, 0x20),
    "float4e2m1": (1, 0, 7, 7, 8, 8),
}


def kind(dtype, saturate=True, round_mode=UP):
    """Return the codec of a narrow float: `decode(bits)`, `encode(x)` and the number of
    `patterns`.

    Args:
        dtype: name.
        saturate: a number that is too large for a float8 becomes the greatest number, else
            infinity or NaN.
        round_mode: rounding of float8e8m0: UP, DOWN or NEAREST.
    """
    if dtype == "float8e8m0":
        return _Power(saturate, round_mode)
    row = _KINDS[dtype]
    return _Float(row, row[2] if saturate and dtype.startswith("float8") else row[3])


def _number(x):
    """Return x as a float; an integer is rounded to float32's 24 bits first, as onnxruntime does.

    Firmware with single floats and with doubles then gives the same. Raises TypeError unless x is
    a number.
    """
    if isinstance(x, int) and not -_EXACT <= x <= _EXACT:
        magnitude, shift = abs(x), 1
        while magnitude >> shift >= _EXACT:
            shift += 1
        half_or_less = (1 << shift - 1) - 1 + (magnitude >> shift & 1)
        magnitude = magnitude + half_or_less >> shift << shift
        x = -magnitude if x < 0 else magnitude
    return x * 1.0


class _Float:
    """Codec of a float with sign, exponent and mantissa."""

    def __init__(self, row, over):
        self.mantissa_bits, self.least, self.top, self.inf, self.nan, self.sign = row
        self.over = over
        self.unsigned_zero = self.inf == self.sign  # the pattern of -0 means NaN
        self.patterns = 2 * self.sign

    def decode(self, bits):
        """Return the float of a pattern; bits beyond it are ignored."""
        magnitude = bits & (self.sign - 1)
        negative = bits & self.sign
        if magnitude > self.top:
            value = INF if magnitude == self.inf != self.nan else NAN
        elif self.unsigned_zero and negative and not magnitude:
            value = NAN
        else:
            exponent = magnitude >> self.mantissa_bits
            mantissa = magnitude & ((1 << self.mantissa_bits) - 1)
            if exponent:
                mantissa += 1 << self.mantissa_bits
                exponent -= 1
            value = math.ldexp(mantissa, exponent + self.least - self.mantissa_bits)
        return -value if negative else value

    def encode(self, x):
        """Return the pattern nearest to x, ties to even. Raises TypeError unless x is a number."""
        x = _number(x)
        sign = self.sign if math.copysign(1.0, x) < 0 else 0
        if x != x:
            return sign | self.nan
        bits = self._magnitude(abs(x))
        return sign | bits if bits or not self.unsigned_zero else 0

    def _magnitude(self, x):
        if x == INF:
            return self.over
        if x == 0:
            return 0
        exponent = max(math.frexp(x)[1] - 1, self.least)
        # Whole steps between neighbours of this exponent; a carry enters the exponent's bits.
        bits = round(math.ldexp(x, self.mantissa_bits - exponent))
        bits += (exponent - self.least) << self.mantissa_bits
        return bits if bits <= self.top else self.over


class _Power:
    """Codec of float8e8m0: powers of two, 2**-127 to 2**127, and NaN. The sign is ignored."""

    patterns = 256

    def __init__(self, saturate, round_mode):
        self.saturate = saturate
        # Fractions of [0.5, 1) above which the next power is taken.
        self.next = (0.5, 1.0, 0.75)[round_mode]
        self.at_next = round_mode == NEAREST

    def decode(self, bits):
        """Return the float of a pattern."""
        return math.ldexp(1.0, (bits & 255) - 127) if bits & 255 != 255 else NAN

    def encode(self, x):
        """Return the pattern of x rounded to a power of two. Raises TypeError for no number."""
        x = abs(_number(x))
        if x != x:
            return 255
        if x == INF:
            return 254 if self.saturate else 255
        if x == 0:
            return 0 if self.saturate else 255
        fraction, exponent = math.frexp(x)
        bits = exponent + 126
        if fraction > self.next or self.at_next and fraction == self.next:
            bits += 1
        if 0 <= bits < 255:
            return bits
        if not self.saturate:
            return 255
        return 254 if bits > 0 else 0
