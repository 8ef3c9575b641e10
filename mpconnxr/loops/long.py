"""Sums of int64 as words, the low one first. Written once, in the common subset of Python and
viper.

x, w, out  int64 as words
p          of x first item, from row to row, from item to item; of w likewise; first item of out,
           rows, items of a row; 1: differences

Made from tools/loops/common/long.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def add64(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[2 * p[0] : 2 * (p[0] + (rows - 1) * p[1] + (n - 1) * p[2]) + 2] if rows and n
        reads w[2 * p[3] : 2 * (p[3] + (rows - 1) * p[4] + (n - 1) * p[5]) + 2] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    mask = 1
    mask = (mask << 31) - 1
    flip = 0xFFFF if p[9] else 0
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        v = w[2 * j]
        low = (x[2 * i] & 0xFFFF) + ((v & 0xFFFF) ^ flip) + p[9]
        high = ((x[2 * i] >> 16) & 0xFFFF) + (((v >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        a = x[2 * i + 1]
        b = w[2 * j + 1]
        low = (high & 32767) << 16 | low & 0xFFFF
        if high & 32768:
            low -= mask + 1
        out[(2 * k)] = low
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + (high >> 16)
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        low = (high & 32767) << 16 | low & 0xFFFF
        if high & 32768:
            low -= mask + 1
        out[(2 * k + 1)] = low
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]
