"""Rows of x (K, inner) to those of out (n, inner) that indices name. Written once, in the common
subset of Python and viper.

x, out  items;  w  an index a row, as words
p       lo, hi: range of rows of x; n, inner; 0, 0, 0, 0, 0, 1 if an index was out of range

The row of an index out of range is left out; loops/gather judges it.

Made from tools/loops/common/put.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def put8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        inner = p[3]
        reads x[p[0] * inner : p[1] * inner]
        reads w[p[0] : p[1]]
        writes out[0 : p[2] * inner]
        writes p[9 : 10]
    """
    inner = p[3]
    count = 9
    a = p[0] * inner
    k = p[0]
    while k < p[1]:
        b = w[k]
        if (b >> 31) & 1 == 1 or b >= p[2]:
            p[count] = 1
            a += inner
        else:
            b = b * inner
            end = a + inner
            while a < end:
                out[b] = x[a]
                a += 1
                b += 1
        k += 1


@micropython.viper
def put32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as put8"""
    inner = p[3]
    count = 9
    a = p[0] * inner
    k = p[0]
    while k < p[1]:
        b = w[k]
        if (b >> 31) & 1 == 1 or b >= p[2]:
            p[count] = 1
            a += inner
        else:
            b = b * inner
            end = a + inner
            while a < end:
                out[b] = x[a]
                a += 1
                b += 1
        k += 1
