"""Weighted sums of four bytes in float32, then bytes again. Written once, for Python and viper.

Floats by their bits, products and sums rounded to even as IEEE 754 has them; none is negative but
the sums. A float is 2**23 .. 2**24 - 1 (here m, c, d, a) times a power of two (here n, e).

corners: the weights of a row's columns, each the product of one of the row's and one of its own.

    x    words, four a row of out: first bytes of the upper and lower row of x, their weights
    out  words, what blend takes as w: floats from 511 on, for each column those of the upper left,
         upper right, lower left and lower right byte
    p    see below

blend: out = byte of ((a * A + b * B) + c * C) + d * D, the bytes standing for floats.

    x    bytes, planes (H, W)
    w    words: 256 floats, what a byte this far from the zero point stands for; 255 levels as
         loops_levels takes them; then the corners
    out  bytes, planes (oh, ow)
    p    first byte of the upper row, of the lower row, of the row of out; columns, bytes of a
         plane of x, of out; planes, zero point, flip, negative levels, least byte of out, first
         word of the row in corners' x; then, four a column, its left and right byte in a row of x,
         their weights
"""

import micropython

COMMON = True


@micropython.viper
def corners(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    i = 0
    stop = 4 * p[3]
    while i < stop:
        c = x[p[11] + 2 + ((i >> 1) & 1)]
        d = p[14 + i - (i & 2)]
        m = 0
        if c and d:
            e = (c >> 23) + (d >> 23) - 126
            c = (c & 8388607) | 8388608
            d = (d & 8388607) | 8388608
            low = (c & 4095) * (d & 4095)
            m = (c & 4095) * (d >> 12) + (c >> 12) * (d & 4095) + (low >> 12)
            low = ((m & 4095) << 12) | (low & 4095)
            m = (m >> 12) + (c >> 12) * (d >> 12)
            if m < 8388608:
                m = (m << 1) | (low >> 23)
                low = (low << 1) & 16777215
                e -= 1
            if low + (m & 1) > 8388608:
                m += 1
            m += (e - 1) << 23
            if e < 1:
                m = 0
        out[511 + i] = m
        i += 1


@micropython.viper
def blend(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    i = 0
    at = p[2]
    plane = 0
    while plane < p[6]:
        col = 0
        while col < p[3]:
            a = 0
            e = 0
            sign = 0
            t = 0
            while t < 4:
                d = (x[p[t >> 1] + plane * p[4] + p[12 + 4 * col + (t & 1)]] ^ p[8]) - p[7]
                s = 0
                if d < 0:
                    d = 0 - d
                    s = 1
                d = w[d]
                c = w[511 + 4 * col + t]
                t += 1
                if c and d:
                    n = (c >> 23) + (d >> 23)
                    c = (c & 8388607) | 8388608
                    d = (d & 8388607) | 8388608
                    low = (c & 4095) * (d & 4095)
                    m = (c & 4095) * (d >> 12) + (c >> 12) * (d & 4095) + (low >> 12)
                    low = ((m & 4095) << 12) | (low & 4095)
                    m = (m >> 12) + (c >> 12) * (d >> 12)
                    if m < 8388608:
                        m = (m << 1) | (low >> 23)
                        low = (low << 1) & 16777215
                        n -= 1
                    if low + (m & 1) > 8388608:
                        m += 1
                    # The sum, with three more bits; the last one stands for all that is lost.
                    m = m << 3
                    a = a << 3
                    if not a or e < n:
                        c = a
                        a = m
                        m = c
                        c = e
                        e = n
                        n = c
                        c = sign
                        sign = s
                        s = c
                    c = e - n
                    if c < 0 or c > 27:
                        c = 27
                    low = m & ((1 << c) - 1)
                    m = m >> c
                    if low:
                        m = m | 1
                    if s == sign:
                        a += m
                    else:
                        a -= m
                        if a < 0:
                            a = 0 - a
                            sign = s
                    while a >> 27:
                        a = (a >> 1) | (a & 1)
                        e += 1
                    while a and a < 67108864:
                        a = a << 1
                        e -= 1
                    low = a & 7
                    a = a >> 3
                    if low + (a & 1) > 4:
                        a += 1
            # The float's bits: 126 belongs to the product of two exponents, 1 to the mantissa.
            m = a + ((e - 127) << 23)
            if e < 127 or not a:
                m = 0
            if sign:
                low = 0
                i = p[9]
                while low < i:
                    n = (low + i) >> 1
                    if w[256 + n] < m:
                        i = n
                    else:
                        low = n + 1
            else:
                low = p[9]
                i = 255
                while low < i:
                    n = (low + i) >> 1
                    if w[256 + n] > m:
                        i = n
                    else:
                        low = n + 1
            out[at + col] = (low + p[10]) & 255
            col += 1
        at += p[5]
        plane += 1
