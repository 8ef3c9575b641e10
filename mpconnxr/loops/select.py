"""Copies items where a condition holds. Written once, in the common subset of Python and viper.

x    items from p[0] on; w: the condition (u8) from p[3] on; out: from p[6] on, in C order
p    first item, row stride, stride of x; the same of w; first item of out; rows; items a row
"""

from ._hints import inline


@inline
def _select(x, w, out, p):
    """Copy items where the condition holds: both loops."""
    k, n = p[6], p[8]
    for row in range(p[7]):
        i, j, end = p[0] + row * p[1], p[3] + row * p[4], k + n
        while k < end:
            if w[j] != 0:
                out[k] = x[i]
            i += p[2]
            j += p[5]
            k += 1


def select8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as qbinary.qadd8"""
    _select(x, w, out, p)


def select32(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Access: as qbinary.qadd8"""
    _select(x, w, out, p)
