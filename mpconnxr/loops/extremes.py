"""The largest or least of float32 along the middle axis of (outer, n, inner), on the bits.

Written once, for Python and viper.

x, out  float32 as words;  w is not read
p       lo, hi: range of outputs; n (not 0), inner, 1 for the least

NaN, 0x7FC00000, where one is there; -0 is less than 0.
"""

from ._words import all_but_sign


def extreme32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    for o in range(p[0], p[1]):
        i = o // p[3] * p[2] * p[3] + o % p[3]
        end, best = i + p[2] * p[3], 0 - mask
        while i < end:
            v = x[i]
            m = v & mask
            if m > infinity:
                m, i = mask, end
            else:
                if (v >> 31) & 1:
                    m = 0 - 1 - m
                if p[4]:
                    m = 0 - m
            best = max(m, best)
            i += p[3]
        if best == mask:
            best = infinity | 0x400000
        else:
            if p[4]:
                best = 0 - best
            if best < 0:
                best = 0 - 1 - best - mask - 1
        out[o] = best
