"""Sums and products of quantized bytes, requantized.

x, w and out hold bytes, in rows as in loops/add. Signed bytes become unsigned by flip, and signed
again in out.

    qadd8  out = (x * x_factor + w * w_factor + constant) / 2**point + out_zero_point
    qmul8  out = (x - x_zero_point) * (w - w_zero_point) * multiplier * 2**(shift - 47)
                 + out_zero_point

rounded half to even (before out_zero_point is added) and clipped to 0 .. 255. Factors and constant
of qadd8 have 10 lower bits besides those in their words, multiplier has 31 bits; all bits count.
No intermediate value exceeds 31 bits.
"""

from ._words import (
    _OUT_START,
    _ROWS,
    _W_START,
    _W_STRIDE,
    _X_START,
    _X_STRIDE,
    rows_of_pairs,
    times_multiplier,
)

# Parameters of qadd8, qmul8: as _words.pairs
_FLIP = const(9)  # 128 if x, w and out are signed [mask] 0, 128

# Parameters of qadd8
_X_FACTOR = const(10)  # [value] 0..2**21 - 1
_W_FACTOR = const(11)  # [value] 0..2**21 - 1
_CONSTANT = const(12)  # [value, BIAS]
_X_FACTOR_LOW = const(13)  # lower 10 bits of x_factor [value] 0..1023
_W_FACTOR_LOW = const(14)  # [value] 0..1023
_CONSTANT_LOW = const(15)  # [value] 0..1023
_POINT = const(16)  # fraction bits of a sum [bits] 16..20
_OUT_ZERO_POINT = const(17)  # of out ^ flip [value] 0..255

# Parameters of qmul8
_X_ZERO_POINT = const(10)  # of x ^ flip [value] 0..255
_W_ZERO_POINT = const(11)  # of w ^ flip [value] 0..255
_LIMIT = const(12)  # limit of a product, 2**25 >> shift: beyond it out saturates [value] 1..2**25
_SHIFT = const(13)  # left shift of a product [bits] 0..25
_MULTIPLIER_HIGH = const(14)  # all but the lower 15 bits [multiplier] 0..65535
_MULTIPLIER_LOW = const(15)  # lower 15 bits [multiplier] 0..32767
_QMUL8_OUT_ZERO_POINT = const(16)  # of out ^ flip [value] 0..255


def qadd8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Add pairs of bytes.

    Access:
        as ints.larger32
        given constant < 1 << 29
    """
    flip, x_factor, w_factor = p[_FLIP], p[_X_FACTOR], p[_W_FACTOR]
    constant, x_factor_low, w_factor_low = (
        p[_CONSTANT] - (1 << 29),
        p[_X_FACTOR_LOW],
        p[_W_FACTOR_LOW],
    )
    constant_low, point, zero_point, x_stride, w_stride, i = (
        p[_CONSTANT_LOW],
        p[_POINT],
        p[_OUT_ZERO_POINT],
        p[_X_STRIDE],
        p[_W_STRIDE],
        p[_X_START],
    )
    half = (1 << (point - 1)) - 1
    j, k, rows = p[_W_START], p[_OUT_START], p[_ROWS]
    for i, j, k, end, rows in rows_of_pairs(i, j, k, rows, x_stride, w_stride, p):
        u = x[i] ^ flip
        v = w[j] ^ flip
        more = u * x_factor_low + v * w_factor_low + constant_low
        v = u * x_factor + v * w_factor + constant + (more >> 10)
        v = (v + half + (1 if more & 1023 else (v >> point) & 1)) >> point
        v = min(max(v + zero_point, 0), 255)
        out[k] = v ^ flip


def qmul8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Multiply pairs of bytes.

    Access:
        as ints.larger32
        given limit == (1 << 25) >> shift
    """
    flip, limit, i, j = p[_FLIP], p[_LIMIT], p[_X_START], p[_W_START]
    k, rows = p[_OUT_START], p[_ROWS]
    for i, j, k, end, rows in rows_of_pairs(i, j, k, rows, p[_X_STRIDE], p[_W_STRIDE], p):
        v = max(
            min(((x[i] ^ flip) - p[_X_ZERO_POINT]) * ((w[j] ^ flip) - p[_W_ZERO_POINT]), limit),
            0 - limit,
        )
        v, high, low = v << p[_SHIFT], p[_MULTIPLIER_HIGH], p[_MULTIPLIER_LOW]
        v, more, low, part = times_multiplier(v, high, low)
        v = (v + 524287 + (1 if more else (v >> 20) & 1)) >> 20
        v = min(max(v + p[_QMUL8_OUT_ZERO_POINT], 0), 255)
        out[k] = v ^ flip
