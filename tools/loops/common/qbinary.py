"""Sums and products of quantized bytes, requantized. Written once, for Python and viper.

    x, w, out  bytes;  p[0] to p[8] as runs.Runs sets them: first item, row stride, stride of x;
    the same of w; first item of out; rows; items a row. Signed bytes are made unsigned by the flip
    p[9], also those of out.

    qadd8  p[10] on: factors a and b, BIAS + constant c, 10 lower bits of each, shift, zero
           point of out;  out = (x * a + w * b + c) / 2**(16 + shift) + zy
    qmul8  p[10] on: zero points of x and w, limit, shift f, the halves of 12 bits M1 and M0 of the
           multiplier (see loops/qdot), zero point of out
           out = (x - zx) * (w - zw) * scale + zy

rounded to even from the middle (before zy is added) and limited to 0 .. 255; no intermediate value
exceeds 31 bits.
"""

from tools.loops.snippets.words import rows_of_pairs


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
    low, shift, zero, x_step, w_step, i = p[15], p[16], p[17], p[2], p[5], p[0]
    j, k, rows = p[3], p[6], p[7]
    with rows_of_pairs(i, j, k, end, rows, x_step, w_step):
        u = x[i] ^ flip
        v = w[j] ^ flip
        v = (u * a + v * b + constant + ((u * a_low + v * b_low + low) >> 10)) >> shift
        v = min(max(((v + 32767 + ((v >> 16) & 1)) >> 16) + zero, 0), 255)
        out[k] = v ^ flip


def qmul8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as qadd8"""
    flip, limit, high, low, i, j = p[9], p[12], p[14], p[15], p[0], p[3]
    k, rows = p[6], p[7]
    with rows_of_pairs(i, j, k, end, rows, p[2], p[5]):
        v = max(min(((x[i] ^ flip) - p[10]) * ((w[j] ^ flip) - p[11]), limit), 0 - limit)
        v = v << p[13]
        part = v & 4095
        v = v >> 12
        v = v * high + ((v * low + part * high + ((part * low) >> 12) + 2048) >> 12)
        v = min(max(((v + 32767 + ((v >> 16) & 1)) >> 16) + p[16], 0), 255)
        out[k] = v ^ flip
