"""Remainders of float32 by their bits, exact. Written once, in the common subset of Python and
viper.

x, w, out  float32 as words
p          as loops/add has it; 0: with the sign of x, cut towards 0; 1: with that of w

Made from tools/loops/common/remainders.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def remainder32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    top = 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        b = w[j]
        sign = (a >> 31) & 1
        sign_of_b = (b >> 31) & 1
        a = a & (top - 1)
        b = b & (top - 1)
        if a >= infinity or b > infinity or b == 0:
            a = infinity | 0x400000
            sign = 0
        else:
            if a >= b:
                m = a & 0x7FFFFF
                e = (a >> 23) & 255
                if e:
                    m = m | 0x800000
                else:
                    e = 1
                    while m < 1 << 23:
                        m = m << 1
                        e -= 1
                n = b & 0x7FFFFF
                d = (b >> 23) & 255
                if d:
                    n = n | 0x800000
                else:
                    d = 1
                    while n < 1 << 23:
                        n = n << 1
                        d -= 1
                if m >= n:
                    m -= n
                e -= d
                while e > 6:
                    m = (m << 6) % n
                    e -= 6
                m = (m << e) % n
                while m and m < 1 << 23 and d > 1:
                    m = m << 1
                    d -= 1
                while m and d < 1:
                    m = m >> 1
                    d += 1
                a = m + ((d - 1) << 23) if m else 0
            if p[9] and sign != sign_of_b:
                sign = sign_of_b
                if a and b == infinity:
                    a = b
                elif a:
                    m = b & 0x7FFFFF
                    e = (b >> 23) & 255
                    if e:
                        m = m | 0x800000
                    else:
                        e = 1
                    n = a & 0x7FFFFF
                    d = (a >> 23) & 255
                    if d:
                        n = n | 0x800000
                    else:
                        d = 1
                    m = m << 3
                    n = n << 3
                    d = e - d
                    if d > 27:
                        d = 27
                    s = 0
                    rest = n & ((1 << d) - 1)
                    n = n >> d
                    if rest:
                        n = n | 1
                    if 1 == s:
                        m += n
                    else:
                        m -= n
                        if m < 0:
                            m = 0 - m
                            s = 1
                    while m >> 27:
                        m = (m >> 1) | (m & 1)
                        e += 1
                    while m and m < 67108864:
                        m = m << 1
                        e -= 1
                    rest = m & 7
                    m = m >> 3
                    if rest + (m & 1) > 4:
                        m += 1
                    while e < 1:
                        m = m >> 1
                        e += 1
                    a = m + ((e - 1) << 23)
        if sign:
            a -= top
        out[k] = a
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]
