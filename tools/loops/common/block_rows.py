"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows.

See loops/block. Written once, in the common subset of Python and viper.
"""

from tools.loops.snippets.floats import largest_bits, unpack
from tools.loops.snippets.words import all_but_sign


def rows(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item of x, rows, K, first item of out for mantissas, the same for exponents, item
    that becomes 1 if a value is inf or nan, else 0, has_bias (0 or 1): it lies behind its row

    Access:
        rows, k = p[1:3]
        reads x[p[0] : p[0] + rows * (k + (1 if p[6] else 0))]
        writes out[p[3] : p[3] + rows * k]
        writes out[p[4] : p[4] + rows]
        writes out[p[5] : p[5] + 1]
    """
    all_but_sign(mask)
    half, i, at = 1 << 23, p[0], p[3]
    item, rows, special = p[4], p[1], 0
    while rows:
        end, most = i + p[2], 0
        largest_bits(most, v, i, end)
        block = most >> 23
        if block == 255:
            special = 1
        elif block == 0:
            block = 1
        i = end - p[2]
        while i < end:
            v = x[i]
            unpack(v, m, e)
            if e:
                m += half
            else:
                e = 1
            e = block - e
            if e > 23:
                m = 0
            else:
                m = (m + (1 << e)) >> (e + 1)
                if m == half:
                    m = half - 1
            if (v >> 31) & 1:
                m = 0 - m
            out[at] = m + half
            at += 1
            i += 1
        out[item] = block
        item += 1
        if p[6]:
            if (x[i] >> 23) & 255 == 255:
                special = 1
            i += 1
        rows -= 1
    i = p[5]
    out[i] = special
