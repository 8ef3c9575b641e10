"""Sums of float32 by their bits: see loops/add.

The smaller number is shifted to the exponent of the larger one, with 6 bits behind the last one of
the result, of which the lowest says whether anything was lost.

Made from tools/loops/viper/add.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def add32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k = p[6]
    i = p[0]
    j = p[3]
    top = 1
    top = top << 31
    mask = top - 1
    infinity = mask - 0x7FFFFF
    flip = p[9] << 31
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        b = w[j] ^ flip
        m = a & mask
        n = b & mask
        differ = ((a ^ b) >> 31) & 1
        if m < n:
            m = n
            n = a & mask
            a = b
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
                n = n << 6
                d = 1
            if e:
                m = ((m & 0x7FFFFF) | 0x800000) << 6
            else:
                m = m << 6
                e = 1
            d = e - d
            if d:
                if d > 30:
                    d = 30
                b = n & ((1 << d) - 1)
                n = n >> d
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
            d = m & 63
            m = m >> 6
            if d > 32 or d == 32 and m & 1:
                m += 1
            m += (e - 1) << 23
            if m > infinity:
                m = infinity
            out[k] = m | (a & top)
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]
