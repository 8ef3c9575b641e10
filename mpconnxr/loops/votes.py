"""Pairwise decisions of support vector machines.

pairs   out[out_start + ij] = sum over vectors v of i of w[j - 1, v] * x[v]
                              + sum over vectors v of j of w[i, v] * x[v]
        for classes i < j, in fixed point: exact, and rounded once; 0x7FC00000 if x is not finite
votes   out[c] = number of pairs that c wins, as float32: i if the sum is greater than 0, else j

x of pairs holds a row of loops/units, w (classes - 1, vectors) integers + 2**26. x of votes holds
float32 as words.
"""

from ._limbs import limbs_as_float
from ._words import bit, nan_bits

# Parameters of pairs
_OUT_START = 0  # [elements] 0..
_CLASSES = const(1)  # [classes] 1..
_VECTORS = const(2)  # of all classes [vectors] 0..
_EXPONENT = const(3)  # biased exponent of w [exponent] 1..254
_VECTOR_STARTS = const(4)  # first vector of each class, then the end [vectors x n] 0..

# Parameters of votes
_START = const(0)  # first sample [samples] 0..
_END = const(1)  # end, exclusive [samples] 0..
_VOTES_CLASSES = const(2)  # [classes] 0..


def pairs(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the sums of all pairs of classes for a sample.

    Access:
        requires max(vector_starts[0 : classes + 1]) <= vectors
        reads x[0 : 2 + vectors]
        reads w[0 : (classes - 1) * vectors] if classes > 1
        reads p[4 : 5 + classes]
        writes out[out_start : out_start + classes * (classes - 1) // 2]
        given 1 <= x[0 : 1] <= 256
        given 4 <= x[2 : 2 + vectors] <= (1 << 27) - 4
        given 4 <= w[0 : (classes - 1) * vectors] <= (1 << 27) - 4 if classes > 1
        given min([vector_starts[i + 1] - vector_starts[i] for i in range(classes)]) >= 0
    """
    place, i = 0, 0
    exponent = x[place]
    place = p[_OUT_START]
    negative = bit(31)
    while i < p[_CLASSES]:
        j = i + 1
        while j < p[_CLASSES]:
            low = middle = high = 0
            top = side = 0
            while side < 2:
                v = j if side else i
                vector = p[v + _VECTOR_STARTS]
                last = p[v + (_VECTOR_STARTS + 1)]
                at = (i if side else j - 1) * p[_VECTORS] + vector
                while vector < last:
                    end = min(vector + 8, last)
                    while vector < end:
                        v = x[vector + 2] - (1 << 26)
                        weight = w[at] - (1 << 26)
                        d, v = v >> 14, v & 16383
                        e, weight = weight >> 14, weight & 16383
                        low += v * weight
                        middle += d * weight + v * e
                        high += d * e
                        vector += 1
                        at += 1
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
            top = top & 0xFFFFFFF  # weights may have any value
            e = exponent + p[_EXPONENT] - 94
            v, e, top, high, low, d = limbs_as_float(top, high, low, e)
            if side:
                v -= negative
            if exponent > 254:
                v = nan_bits()
            out[place] = v
            place += 1
            j += 1
        i += 1


def votes(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Count the votes of samples.

    Access:
        pairs = votes_classes * (votes_classes - 1) // 2
        reads x[start * pairs : end * pairs]
        writes out[start * votes_classes : end * votes_classes]
    """
    sample = p[_START]
    pair = p[_START] * (p[_VOTES_CLASSES] * (p[_VOTES_CLASSES] - 1) // 2)
    while sample < p[_END]:
        first = sample * p[_VOTES_CLASSES]
        i = 0
        while i < p[_VOTES_CLASSES]:
            out[first + i] = 0
            i += 1
        i = 0
        while i < p[_VOTES_CLASSES]:
            j = i + 1
            while j < p[_VOTES_CLASSES]:
                v = x[pair]
                e = v >> 23
                winner = j
                if e >= 0 and e < 255 and v or e == 255 and (v & 0x7FFFFF) == 0:
                    winner = i
                out[first + winner] += 1
                pair += 1
                j += 1
            i += 1
        i = 0
        while i < p[_VOTES_CLASSES]:  # as floats, for which arg_reduce is fast
            v, e = out[first + i], 150
            while v and v < 1 << 23:
                v = v << 1
                e -= 1
            out[first + i] = (v & 0x7FFFFF) + (e << 23) if v else 0
            i += 1
        sample += 1
