"""Rows of x (K, inner) to those of out (n, inner) that indices name. Written once, in the common
subset of Python and viper.

x, out  items;  w  an index a row, as words
p       lo, hi: range of rows of x; n, inner; 0, 0, 0, 0, 0, 1 if an index was out of range

The row of an index out of range is left out; loops/gather judges it.
"""

from ._hints import inline


@inline
def _put(x, w, out, p):
    """Copy rows to those that indices name: both loops."""
    inner, count = p[3], 9
    a = p[0] * inner
    for k in range(p[0], p[1]):
        b = w[k]
        if (b >> 31) & 1 == 1 or b >= p[2]:
            p[count] = 1
            a += inner
        else:
            b, end = b * inner, a + inner
            while a < end:
                out[b] = x[a]
                a += 1
                b += 1


def put8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        inner = p[3]
        reads x[p[0] * inner : p[1] * inner]
        reads w[p[0] : p[1]]
        writes out[0 : p[2] * inner]
        writes p[9 : 10]
    """
    _put(x, w, out, p)


def put32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as put8"""
    _put(x, w, out, p)
