"""Squared distances of a row from many, in fixed point. Written once, for Python and viper.

totals   to out, behind the row: the sum of the squares of what each vector differs from it by,
         exact if the row has the least exponent: three limbs of 28 bits
squares  out[i] = these sums as float32, rounded once, to nearest, ties to even; inf or 0x7FC00000
         if the row is not finite

x       a row as loops/units leaves it; of squares with the limbs behind it
w       vectors of the same unit if the row's exponent is the least one: integers + 2**26
p       first item of w, items of a row (1 to 65535), range of items of out that squares writes: as
        many vectors

Made from tools/loops/common/squares.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def totals(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n, vectors = p[1], max(p[3] - p[2], 0)
        reads x[1 : 2 + n]
        reads w[p[0] : p[0] + n * vectors]
        writes out[2 + n : 2 + n + 3 * vectors]
    """
    k = 1
    s = x[k]
    bias = (1 << 26) - (1 << 26 >> s)
    j = p[0]
    last = p[1] + 2
    k = last
    end = k + 3 * (p[3] - p[2])
    while k < end:
        low = 0
        middle = 0
        high = 0
        top = 0
        i = 2
        while i < last:
            stop = i + 8
            if stop > last:
                stop = last
            while i < stop:
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
        out[k] = low | (middle << 15)
        out[k + 1] = high
        out[k + 2] = top & 0xFFFFFFF  # weights may be anything
        k += 3


@micropython.viper
def squares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n, first, end = p[1], p[2], max(p[3], p[2])
        reads x[0 : 1]
        reads x[2 + n : 2 + n + 3 * (end - first)]
        writes out[first : end]
    """
    k = 0
    exponent = x[k]
    i = p[1] + 2
    k = p[2]
    while k < p[3]:
        low = x[i]
        high = x[i + 1]
        top = x[i + 2]
        e = exponent + exponent - 94
        if top == 0:
            top = high
            high = low
            low = 0
            e -= 28
        if top == 0:
            top = high
            high = 0
            e -= 28
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
        e += a - 28
        if a < 28:
            v = v | (high >> a)
        if high & ((1 << a) - 1) or low:
            v = v | 1
        a = 4 if e > 0 else 5 - e
        if a < 30:
            top = v & ((1 << a) - 1)
            v = v >> a
            if top + (v & 1) > 1 << (a - 1):
                v += 1
            if v and e > 0:
                v += (e - 1) << 23
            if v and e > 254:
                v = 255
                v = v << 23
        else:
            v = 0
        if exponent > 254:
            v = 255
            v = v << 23
            if exponent > 255:
                v = 0x1FF
                v = v << 22
        out[k] = v
        i += 3
        k += 1
