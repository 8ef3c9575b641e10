"""Products of float32 by their bits: see loops/mul. Of 48 bits, in four products of 12.

Made from tools/loops/viper/mul.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def mul32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
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
        e = (m >> 23) & 255
        d = (n >> 23) & 255
        if p[9] and (m & top == 0 and m <= infinity or m & mask == 0):
            sign = 0
            m = x[i]
        elif e == 255 or d == 255:
            m = m & mask
            n = n & mask
            if m > infinity or n > infinity or m == 0 or n == 0:
                sign = 0
                m = infinity | 0x400000
            else:
                m = infinity
        elif m & mask == 0 or n & mask == 0:
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
            e += d - 127
            low = (m & 4095) * (n & 4095)
            rest = (m >> 12) * (n & 4095) + (m & 4095) * (n >> 12) + (low >> 12)
            m = (m >> 12) * (n >> 12) + (rest >> 12)
            rest = ((rest & 4095) << 12) | (low & 4095)
            if m >> 23:
                e += 1
            else:
                m = (m << 1) | (rest >> 23)
                rest = (rest << 1) & 0xFFFFFF
            if e < 1:
                d = 1 - e if e > 0 - 24 else 25
                if rest:
                    rest = 1
                if d < 25:
                    rest = rest | (m & ((1 << d) - 1)) << (24 - d)
                m = m >> d
                e = 1
            if rest > 0x800000 or rest == 0x800000 and m & 1:
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
