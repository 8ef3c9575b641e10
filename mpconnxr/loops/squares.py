"""Squared distances of a row from many, in fixed point. Written once, for Python and viper.

x       a row as loops/units leaves it
w       rows of the same unit if the row's exponent is the least one: integers + 2**26
out     float32 as words: the sum of the squares of what the rows differ by, exact if the row has
        the least exponent, and rounded once, to nearest, ties to even; inf or 0x7FC00000 if x is
        not finite
p       first item of w, items of a row (1 to 65535), range of out

Made from tools/loops/common/squares.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def squares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n, first, end = p[1], p[2], max(p[3], p[2])
        reads x[0 : 2 + n]
        reads w[p[0] : p[0] + n * (end - first)]
        writes out[first : end]
    """
    k = 0
    e = x[k]
    s = x[k + 1]
    bias = (1 << 26) - (1 << 26 >> s)
    j = p[0]
    k = p[2]
    last = p[1] + 2
    while k < p[3]:
        if e > 254:
            v = 255
            v = v << 23
            if e > 255:
                v = 0x1FF
                v = v << 22
            out[k] = v
            k += 1
            continue
        low = 0
        middle = 0
        high = 0
        top = 0
        i = 2
        while i < last:
            end = i + 8
            if end > last:
                end = last
            while i < end:
                v = x[i] - bias - (w[j] >> s)
                a = v >> 14
                v = v & 16383
                low += v * v
                middle += a * v
                high += a * a
                i += 1
                j += 1
            middle += low >> 15
            low = low & 32767
            high += middle >> 13
            middle = middle & 8191
            top += high >> 28
            high = high & 0xFFFFFFF
        low = low | (middle << 15)
        top = top & 0xFFFFFFF  # weights may be anything
        middle = e + e - 94
        if top == 0:
            top = high
            high = low
            low = 0
            middle -= 28
        if top == 0:
            top = high
            high = 0
            middle -= 28
        v = top
        a = 28
        if v and v < 1 << 14:
            v = v << 14
            a = 14
        if v and v < 1 << 21:
            v = v << 7
            a -= 7
        while v and v < 1 << 27:
            v = v << 1
            a -= 1
        middle += a - 28
        if a < 28:
            v = v | (high >> a)
        if high & ((1 << a) - 1) or low:
            v = v | 1
        a = 4 if middle > 0 else 5 - middle
        if a < 30:
            top = v & ((1 << a) - 1)
            v = v >> a
            if top + (v & 1) > 1 << (a - 1):
                v += 1
            if v and middle > 0:
                v += (middle - 1) << 23
            if v and middle > 254:
                v = 255
                v = v << 23
        else:
            v = 0
        out[k] = v
        k += 1
