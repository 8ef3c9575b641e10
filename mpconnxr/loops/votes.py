"""Decisions of pairs of classes, as support vector machines make them, in fixed point. Written
once, for Python and viper.

pairs   out[p[0] + ij] = sum over vectors v of i of w[j - 1, v] * x[v]
                         + sum over vectors v of j of w[i, v] * x[v]
        for classes i < j: exact, and rounded once; 0x7FC00000 if x is not finite
votes   out[c] = number of pairs that c won, as float32: i where the sum is greater than 0, else j

x       of pairs: a row as loops/units leaves it; of votes: float32 as words
w       (classes - 1, vectors): integers + 2**26
p       of pairs: first item of out, classes, vectors, exponent of w, the first vector of each
        class and the end of the last one's; of votes: range of samples, classes
"""

from ._limbs import limbs_as_float
from ._words import bit, nan_bits


def pairs(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n, vectors, ends = p[1], p[2], p[4 : 5 + p[1]]
        requires min(ends) >= 0 and max(ends) <= vectors
        reads x[0 : 2 + vectors]
        reads w[0 : (n - 1) * vectors] if n > 1
        reads p[4 : 5 + n]
        writes out[p[0] : p[0] + n * (n - 1) // 2]
    """
    k, i = 0, 0
    exponent = x[k]
    k = p[0]
    negative = bit(31)
    while i < p[1]:
        c = i + 1
        while c < p[1]:
            low = middle = high = 0
            top = side = 0
            while side < 2:
                v = c if side else i
                a = p[v + 4]
                last = p[v + 5]
                j = (i if side else c - 1) * p[2] + a
                while a < last:
                    end = min(a + 8, last)
                    while a < end:
                        v = x[a + 2] - (1 << 26)
                        b = w[j] - (1 << 26)
                        d, v = v >> 14, v & 16383
                        e, b = b >> 14, b & 16383
                        low += v * b
                        middle += d * b + v * e
                        high += d * e
                        a += 1
                        j += 1
                    middle += low >> 14
                    low = low & 16383
                    high += middle >> 14
                    middle = middle & 16383
                    top += high >> 28
                    high = high & 0xFFFFFFF
                side += 1
            low = low | (middle << 14)
            side = 0
            if top < 0:
                side = 1
                low = (0 - low) & 0xFFFFFFF
                high = (0 - high - (1 if low else 0)) & 0xFFFFFFF
                top = 0 - top - (1 if low or high else 0)
            top = top & 0xFFFFFFF  # weights may be anything
            e = exponent + p[3] - 94
            v, e, top, high, low, d = limbs_as_float(top, high, low, e)
            if side:
                v -= negative
            if exponent > 254:
                v = nan_bits()
            out[k] = v
            k += 1
            c += 1
        i += 1


def votes(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        pairs = n * (n - 1) // 2
        reads x[lo * pairs : hi * pairs]
        writes out[lo * n : hi * n]
    """
    k = p[0]
    j = p[0] * (p[2] * (p[2] - 1) // 2)
    while k < p[1]:
        first = k * p[2]
        i = 0
        while i < p[2]:
            out[first + i] = 0
            i += 1
        i = 0
        while i < p[2]:
            c = i + 1
            while c < p[2]:
                v = x[j]
                e = v >> 23
                a = c
                if e >= 0 and e < 255 and v or e == 255 and (v & 0x7FFFFF) == 0:
                    a = i
                out[first + a] += 1
                j += 1
                c += 1
            i += 1
        i = 0
        while i < p[2]:  # as floats: arg_reduce is fast with these
            v, e = out[first + i], 150
            while v and v < 1 << 23:
                v = v << 1
                e -= 1
            out[first + i] = (v & 0x7FFFFF) + (e << 23) if v else 0
            i += 1
        k += 1
