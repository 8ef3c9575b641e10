"""Squared distances of a row from many, in fixed point. Written once, for Python and viper.

x       a row as loops/units leaves it
w       rows of the same unit if the row's exponent is the least one: integers + 2**26
out     float32 as words: the sum of the squares of what the rows differ by, exact if the row has
        the least exponent, and rounded once, to nearest, ties to even; inf or 0x7FC00000 if x is
        not finite
p       first item of w, items of a row (1 to 65535), range of out
"""

from tools.loops.snippets.limbs import infinity_bits, limbs_as_float
from tools.loops.snippets.words import nan_bits


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
    j, k, last = p[0], p[2], p[1] + 2
    while k < p[3]:
        if e > 254:
            infinity_bits(v)
            if e > 255:
                nan_bits(v)
            out[k] = v
            k += 1
            continue
        low = middle = high = 0
        top, i = 0, 2
        while i < last:
            end = min(i + 8, last)
            while i < end:
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
        low = low | (middle << 15)
        top = top & 0xFFFFFFF  # weights may be anything
        middle = e + e - 94
        limbs_as_float(v, top, high, low, middle, a)
        out[k] = v
        k += 1
