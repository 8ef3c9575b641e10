"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows.

See loops/block. Written once, in the common subset of Python and viper.

Made from tools/loops/common/block_rows.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
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
    mask = 1
    mask = (mask << 31) - 1
    half = 1 << 23
    i = p[0]
    at = p[3]
    item = p[4]
    rows = p[1]
    special = 0
    while rows:
        end = i + p[2]
        most = 0
        while i < end:
            v = x[i] & mask
            if v > most:
                most = v
            i += 1
        block = most >> 23
        if block == 255:
            special = 1
        elif block == 0:
            block = 1
        i = end - p[2]
        while i < end:
            v = x[i]
            m = v & 0x7FFFFF
            e = (v >> 23) & 255
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
