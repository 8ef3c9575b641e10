"""Integers of means of float32. Written once, for Python and viper.

rounded   round(mean / scale) + zero point, the quotient rounded as float32
bytes_of  by levels that are known

    x    bytes_of: 255 words, the levels, as loops/levels takes them
    w    the list and its means, as loops/means leaves them
    out  items, planes (oh, ow) from item p[1] on
    p    as there; p[17] negative levels, p[18] least byte of out
"""

from ._floats import halve


def bytes_of(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        windows, n = p[2] * p[11] * p[12], p[22]
        requires p[17] < 256
        given choose has listed p[22] windows in w
        reads x[0 : 255] if n
        reads w[0 : n]
        reads w[64 : 64 + n]
        reads w[128 : 128 + n]
        writes out[p[1] : p[1] + windows] if n
    """
    for listed in range(p[22]):
        k, i, e = 0, p[17], w[128 + listed]
        m = w[64 + listed]
        if e < 2 or not m:
            m = 0
        else:
            m += ((e >> 1) - 1) << 23
        if e & 1:
            while k < i:
                n = (k + i) >> 1
                if x[n] < m:
                    i = n
                else:
                    k = n + 1
        else:
            k, i = i, 255
            while k < i:
                n = (k + i) >> 1
                if x[n] > m:
                    i = n
                else:
                    k = n + 1
        out[p[1] + w[listed]] = (k + p[18]) & 255


def rounded(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        windows, n = p[2] * p[11] * p[12], p[22]
        given choose has listed p[22] windows in w
        reads w[0 : n]
        reads w[64 : 64 + n]
        reads w[128 : 128 + n]
        writes out[p[1] * p[29] : (p[1] + windows) * p[29]] if n
    """
    for listed in range(p[22]):
        a = w[64 + listed]
        n = (w[128 + listed] >> 1) - p[27]
        a, n = halve(a, n, 24)
        if a < p[26]:
            a = a << 1
            n -= 1
        k = 0
        if a and n > 19:
            k = 1 << 20
        elif a and n > 0 - 2:
            # The quotient: 1 and 24 bits behind the point, 6 at a time.
            m = 1
            a -= p[26]
            while m >> 24 == 0:
                a = a << 6
                k = a // p[26]
                a -= k * p[26]
                m = (m << 6) | k
            k, m = m & 1, m >> 1
            if k and (a or m & 1):
                m += 1
            n = 23 - n
            k = m >> n
            m -= k << n
            if 2 * m + (k & 1) > 1 << n:
                k += 1
        if w[128 + listed] & 1:
            k = 0 - k
        k += p[28]
        k = min(max(k, 0), p[30])
        k = k ^ p[16]
        n = (p[1] + w[listed]) * p[29]
        out[n] = k & 255
        if p[29] > 1:
            out[n + 1] = k >> 8
