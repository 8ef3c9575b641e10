"""Products of float32 on the bits: see loops/mul. Viper form: four products of 12 bits."""

from .._floats import significand
from .._viper import ptr32
from .._words import bit, pairs


def mul32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k, i, j = p[_OUT_START], p[_X_START], p[_W_START]
    top = bit(31)
    mask = top - 1
    infinity = mask - 0x7FFFFF
    for i, j, k, end, last in pairs(i, j, k, p):
        m, n = x[i], w[j]
        sign, e, d = (m ^ n) & top, (m >> 23) & 255, (n >> 23) & 255
        if p[_IS_PRELU] and (m & top == 0 and m <= infinity or m & mask == 0):
            sign, m = 0, x[i]
        elif e == 255 or d == 255:
            m, n = m & mask, n & mask
            if m > infinity or n > infinity or m == 0 or n == 0:
                sign, m = 0, infinity | 0x400000
            else:
                m = infinity
        elif m & mask == 0 or n & mask == 0:
            m = 0
        else:
            m = m & 0x7FFFFF
            m, e = significand(m, e)
            n = n & 0x7FFFFF
            n, d = significand(n, d)
            e += d - 127
            low = (m & 4095) * (n & 4095)
            rest = (m >> 12) * (n & 4095) + (m & 4095) * (n >> 12) + (low >> 12)
            m = (m >> 12) * (n >> 12) + (rest >> 12)
            rest = ((rest & 4095) << 12) | (low & 4095)
            if m >> 23:
                e += 1
            else:
                m, rest = (m << 1) | (rest >> 23), (rest << 1) & 0xFFFFFF
            if e < 1:
                d = 1 - e if e > 0 - 24 else 25
                if rest:
                    rest = 1
                if d < 25:
                    rest = rest | (m & ((1 << d) - 1)) << (24 - d)
                m, e = m >> d, 1
            if rest > 0x800000 or rest == 0x800000 and m & 1:
                m += 1
            m = m + ((e - 1) << 23) if e < 255 else infinity
        out[k] = m | sign
