"""Sums of float32 on the bits: see loops/add. Viper form.

The smaller number is shifted to the exponent of the larger one, with 6 guard bits, of which the
lowest is sticky.
"""

from .._viper import ptr32
from .._words import bit, pairs


def add32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k, i, j = p[_OUT_START], p[_X_START], p[_W_START]
    top = bit(31)
    mask = top - 1
    infinity, flip = mask - 0x7FFFFF, p[_IS_DIFFERENCE] << 31
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j] ^ flip
        m, n, differ = a & mask, b & mask, ((a ^ b) >> 31) & 1
        if m < n:
            m, n, a = n, a & mask, b
        e = m >> 23
        if e == 255:
            if m > infinity or m == n and differ:
                a = infinity | 0x400000
            out[k] = a
        else:
            d = n >> 23
            if d:
                n = ((n & 0x7FFFFF) | 0x800000) << 6
            else:
                n, d = n << 6, 1
            if e:
                m = ((m & 0x7FFFFF) | 0x800000) << 6
            else:
                m, e = m << 6, 1
            d = e - d
            if d:
                d = min(d, 30)
                b, n = n & ((1 << d) - 1), n >> d
                if b:
                    n = n | 1
            if differ:
                m -= n
                if m == 0:
                    a = 0
            else:
                m += n
            if m >> 30:
                m = (m >> 1) | (m & 1)
                e += 1
            elif m:
                while m < 1 << 29 and e > 1:
                    m = m << 1
                    e -= 1
            else:
                e = 1
            d, m = m & 63, m >> 6
            if d > 32 or d == 32 and m & 1:
                m += 1
            m += (e - 1) << 23
            m = min(m, infinity)
            out[k] = m | (a & top)
