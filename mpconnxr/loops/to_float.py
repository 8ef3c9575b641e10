"""Products and sums of float32 by their bits. Written once, in the common subset.

    x    int32;  w  float32 as words: a scale for each channel, then an offset for each
    out  float32 as words
    p    lo, hi: range of items; channels, items a channel, channel of the first item, items left
         of it, mask of the bits without the sign

A float is m * 2**(e - 150) with m from 2**23 to 2**24 - 1. Products and sums have 4 and 3 bits
more; 23 bits of the product of two m are cut off.
"""

from ._words import swap


def to_float32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        requires p[4] < p[2]
        reads x[p[0] : p[1]]
        reads w[0 : 2 * p[2]] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    one, mask, c, left = 1, p[6], p[4], p[5]
    for i in range(p[0], p[1]):
        v, s = x[i], w[c]
        sign = ((v >> 31) ^ (s >> 31)) & 1
        m = v & mask
        if (v >> 31) & 1:
            m = (v ^ mask) & mask
            if m < mask:
                m += 1
        e = (s >> 23) & 255
        if e == 0:
            m = 0
        if m:
            e += 20
            while m >= one << 24:
                m = (m >> 1) + (m & 1)
                e += 1
            if m < one << 12:
                m = m << 12
                e -= 12
            if m < one << 18:
                m = m << 6
                e -= 6
            if m < one << 21:
                m = m << 3
                e -= 3
            while m < one << 23:
                m = m << 1
                e -= 1
            s = (s & 8388607) | (one << 23)
            v = (m >> 12) * (s & 4095) + (m & 4095) * (s >> 12) + (((m & 4095) * (s & 4095)) >> 12)
            m = (((m >> 12) * (s >> 12)) << 4) + (v >> 8)
            if m >= one << 27:
                m = (m >> 1) | (m & 1)
                e += 1
        s = w[p[2] + c]
        d = (s >> 23) & 255
        b = ((s & 8388607) | (one << 23)) << 3
        s = (s >> 31) & 1
        if d == 0:
            b = 0
        d -= 3
        if m == 0 or (b != 0 and d > e):
            m, b, v = swap(m, b)
            e, d, v = swap(e, d)
            sign, s, v = swap(sign, s)
        if b:
            d = min(e - d, 28)
            v = b >> d
            if v << d != b:
                v = v | 1
            if sign == s:
                m += v
            else:
                m -= v
            if (m >> 30) & 1:
                m, sign = 0 - m, s
        if m >= one << 27:
            m = (m >> 1) | (m & 1)
            e += 1
        if m:
            while m < one << 26:
                m = m << 1
                e -= 1
        m = (m + 3 + ((m >> 3) & 1)) >> 3
        e += 3
        if m == 0 or e < 1:
            m = 0
        else:
            if e > 254:
                e, m = 255, one << 23
            m = (e << 23) + m - (one << 23)
        if sign:
            m = m - mask - 1
        out[i] = m
        left -= 1
        if left == 0:
            left = p[3]
            c += 1
            if c == p[2]:
                c = 0
