"""Sums and products of quantized bytes, requantized. Written once, for Python and viper.

    x, w, out  bytes;  p[0] to p[8] as runs.Runs sets them: first item, row stride, stride of x;
    the same of w; first item of out; rows; items a row. Signed bytes are made unsigned by the flip
    p[9], also those of out.

    qadd8  p[10] on: factors a and b, BIAS + constant c, 10 lower bits of each, bits behind the
           point, 16 to 20, zero point of out;  out = (x * a + w * b + c) / 2**bits + zy
    qmul8  p[10] on: zero points of x and w, 2**25 >> f, f, the upper 16 bits of M and the
           lower 15, zero point of out
           out = (x - zx) * (w - zw) * scale + zy,  scale = M * 2**(f - 47)

rounded to even from the middle (before zy is added) and limited to 0 .. 255; all bits count. No
intermediate value exceeds 31 bits.
"""

from ._words import rows_of_pairs, times_multiplier


def qadd8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    flip, a, b = p[9:12]
    constant, a_low, b_low = p[12] - (1 << 29), p[13], p[14]
    low, bits, zero, x_step, w_step, i = p[15], p[16], p[17], p[2], p[5], p[0]
    half = (1 << (bits - 1)) - 1
    j, k, rows = p[3], p[6], p[7]
    for i, j, k, end, rows in rows_of_pairs(i, j, k, rows, x_step, w_step, p):
        u = x[i] ^ flip
        v = w[j] ^ flip
        more = u * a_low + v * b_low + low
        v = u * a + v * b + constant + (more >> 10)
        v = (v + half + (1 if more & 1023 else (v >> bits) & 1)) >> bits
        v = min(max(v + zero, 0), 255)
        out[k] = v ^ flip


def qmul8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as qadd8"""
    flip, limit, i, j = p[9], p[12], p[0], p[3]
    k, rows = p[6], p[7]
    for i, j, k, end, rows in rows_of_pairs(i, j, k, rows, p[2], p[5], p):
        v = max(min(((x[i] ^ flip) - p[10]) * ((w[j] ^ flip) - p[11]), limit), 0 - limit)
        v, high, low = v << p[13], p[14], p[15]
        v, more, low, part = times_multiplier(v, high, low)
        v = (v + 524287 + (1 if more else (v >> 20) & 1)) >> 20
        v = min(max(v + p[16], 0), 255)
        out[k] = v ^ flip
