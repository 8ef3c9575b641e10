"""Quotients of float32 by their bits: see loops/div. By four divisions, 7 bits each.

Made from tools/loops/viper/div.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def div32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k = p[6]
    i = p[0]
    j = p[3]
    top = 1
    top = top << 31
    mask = top - 1
    infinity = mask - 0x7FFFFF
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        m = x[i]
        n = w[j]
        sign = (m ^ n) & top
        m = m & mask
        n = n & mask
        e = m >> 23
        d = n >> 23
        if m > infinity or n > infinity or m == n and (m == 0 or m == infinity):
            sign = 0
            m = infinity | 0x400000
        elif m == infinity or n == 0:
            m = infinity
        elif n == infinity or m == 0:
            m = 0
        else:
            m = m & 0x7FFFFF
            if e:
                m = m | 0x800000
            else:
                e = 1
                while m < 1 << 23:
                    m = m << 1
                    e -= 1
            n = n & 0x7FFFFF
            if d:
                n = n | 0x800000
            else:
                d = 1
                while n < 1 << 23:
                    n = n << 1
                    d -= 1
            e += 127 - d
            if m < n:
                m = m << 1
                e -= 1
            rest = m - n
            m = 1
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
            m = m >> d
            d = 1 << (d - 1)
            if n > d or n == d and m & 1:
                m += 1
            m = m + ((e - 1) << 23) if e < 255 else infinity
        out[k] = m | sign
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]
