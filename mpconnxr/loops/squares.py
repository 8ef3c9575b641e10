"""Squared distances of a row from many, in fixed point. Written once, for Python and viper.

totals   to out, behind the row: the sum of the squares of what each vector differs from it by,
         exact if the row has the least exponent: three limbs of 28 bits
squares  out[i] = these sums as float32, rounded once, to nearest, ties to even; inf or 0x7FC00000
         if the row is not finite

x       a row as loops/units leaves it; of squares with the limbs behind it
w       vectors of the same unit if the row's exponent is the least one: integers + 2**26
p       first item of w, items of a row (1 to 65535), range of items of out that squares writes: as
        many vectors
"""

from ._limbs import infinity_bits, limbs_as_float
from ._words import nan_bits


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
    j, last = p[0], p[1] + 2
    k = last
    end = k + 3 * (p[3] - p[2])
    while k < end:
        low = middle = high = 0
        top, i = 0, 2
        while i < last:
            stop = min(i + 8, last)
            while i < stop:
                v = x[i] - bias - (w[j] >> s)
                a, v = v >> 14, v & 16383
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
    i, k = p[1] + 2, p[2]
    while k < p[3]:
        low, high, top = x[i], x[i + 1], x[i + 2]
        e = exponent + exponent - 94
        v, e, top, high, low, a = limbs_as_float(top, high, low, e)
        if exponent > 254:
            v = infinity_bits()
            if exponent > 255:
                v = nan_bits()
        out[k] = v
        i += 3
        k += 1
