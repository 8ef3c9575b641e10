"""Quotients of float32 on the bits: see loops/div. Viper form: four divisions of 7 bits each."""

from .._floats import significand
from .._viper import ptr32
from .._words import bit, pairs


def div32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k, i, j = p[_OUT_START], p[_X_START], p[_W_START]
    top = bit(31)
    mask = top - 1
    infinity = mask - 0x7FFFFF
    for i, j, k, end, last in pairs(i, j, k, p):
        m, n = x[i], w[j]
        sign, m, n = (m ^ n) & top, m & mask, n & mask
        e, d = m >> 23, n >> 23
        if m > infinity or n > infinity or m == n and (m == 0 or m == infinity):
            sign, m = 0, infinity | 0x400000
        elif m == infinity or n == 0:
            m = infinity
        elif n == infinity or m == 0:
            m = 0
        else:
            m = m & 0x7FFFFF
            m, e = significand(m, e)
            n = n & 0x7FFFFF
            n, d = significand(n, d)
            e += 127 - d
            if m < n:
                m = m << 1
                e -= 1
            rest, m = m - n, 1
            while m < 1 << 28:
                rest = rest << 7
                d = rest // n
                rest -= d * n
                m = (m << 7) | d
            d = 5
            if e < 1:
                d = 6 - e if e > 0 - 24 else 30
                e = 1
            n = m & ((1 << d) - 1)
            if rest:
                n = n | 1
            m, d = m >> d, 1 << (d - 1)
            if n > d or n == d and m & 1:
                m += 1
            m = m + ((e - 1) << 23) if e < 255 else infinity
        out[k] = m | sign
