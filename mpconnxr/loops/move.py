"""Copies between strided layouts, by element size; no arithmetic on the elements.

Written once, in the common subset of Python and viper: indexes only, parameters from 0 to
2**31 - 1 (signed ones plus BIAS), no store at a constant index.

    p    lo, hi (range of the first of three dims), n1, n2, strides of x sx0, sx1, sx2 and of out
         so0, so1, so2 (BIAS + items), first items of x and of out (BIAS + items)
"""

from ._hints import inline


@inline
def _move(x, out, p):
    """Copy items from one layout to another: both loops."""
    bias, n2 = 1 << 29, p[3]
    sx, so = p[6] - bias, p[9] - bias
    for i in range(p[0], p[1]):
        for j in range(p[2]):
            a = p[10] - bias + i * (p[4] - bias) + j * (p[5] - bias)
            b = p[11] - bias + i * (p[7] - bias) + j * (p[8] - bias)
            for k in range(n2):
                out[b] = x[a]
                a += sx
                b += so


def copy8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        n = p[1] - p[0] - 1, p[2] - 1, p[3] - 1
        a, b = p[10] - BIAS + p[0] * (p[4] - BIAS), p[11] - BIAS + p[0] * (p[7] - BIAS)
        s = [n[i] * (p[4 + i] - BIAS) for i in range(3)]
        t = [n[i] * (p[7 + i] - BIAS) for i in range(3)]
        reads x[a + sum(min(v, 0) for v in s) : a + sum(max(v, 0) for v in s) + 1] if min(n) >= 0
        writes out[b + sum(min(v, 0) for v in t) : b + sum(max(v, 0) for v in t) + 1]
            if min(n) >= 0
    """
    _move(x, out, p)


def copy32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as copy8"""
    _move(x, out, p)
