"""Copies between strided layouts, by element size; no arithmetic on the elements.

Written once, in the common subset of Python and viper: indexes only, parameters from 0 to
2**31 - 1 (signed ones plus BIAS), no store at a constant index.

    p    lo, hi (range of the first of three dims), n1, n2, strides of x sx0, sx1, sx2 and of out
         so0, so1, so2 (BIAS + items), first items of x and of out (BIAS + items)

Made from tools/loops/common/move.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def copy8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias = 1 << 29
    n2 = p[3]
    sx = p[6] - bias
    so = p[9] - bias
    i = p[0]
    while i < p[1]:
        j = 0
        while j < p[2]:
            a = p[10] - bias + i * (p[4] - bias) + j * (p[5] - bias)
            b = p[11] - bias + i * (p[7] - bias) + j * (p[8] - bias)
            k = 0
            while k < n2:
                out[b] = x[a]
                a += sx
                b += so
                k += 1
            j += 1
        i += 1


@micropython.viper
def copy32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    bias = 1 << 29
    n2 = p[3]
    sx = p[6] - bias
    so = p[9] - bias
    i = p[0]
    while i < p[1]:
        j = 0
        while j < p[2]:
            a = p[10] - bias + i * (p[4] - bias) + j * (p[5] - bias)
            b = p[11] - bias + i * (p[7] - bias) + j * (p[8] - bias)
            k = 0
            while k < n2:
                out[b] = x[a]
                a += sx
                b += so
                k += 1
            j += 1
        i += 1
