"""Squared distances of a row from many vectors, in fixed point.

x holds a row of loops/units. w holds vectors, integers + 2**26, in the unit that the row has with
its least exponent.
"""

from ._limbs import infinity_bits, limbs_as_float
from ._words import nan_bits

# Parameters of totals, squares
_W_START = 0  # start of the first vector [elements] 0..
_ELEMENTS = 1  # of a row [elements] 1..65535
_OUT_START = 2  # of the distances of squares [elements] 0..
_OUT_END = 3  # end, exclusive: totals computes as many sums [elements] 0..


def totals(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the squared distances behind the row: three limbs of 28 bits each.

    They are exact if the row has the least exponent.

    Access:
        vectors = max(out_end - out_start, 0)
        reads x[1 : 2 + elements]
        reads w[w_start : w_start + elements * vectors]
        writes out[2 + elements : 2 + elements + 3 * vectors]
        given 0 <= x[1 : 2] <= 30
        given 4 <= x[2 : 2 + elements] <= (1 << 27) - 4
        given 4 <= w[w_start : w_start + elements * vectors] <= (1 << 27) - 4
    """
    k = 1
    shift = x[k]
    bias = (1 << 26) - (1 << 26 >> shift)
    j, last = p[_W_START], p[_ELEMENTS] + 2
    k = last
    end = k + 3 * (p[_OUT_END] - p[_OUT_START])
    while k < end:
        low = middle = high = 0
        top, i = 0, 2
        while i < last:
            stop = min(i + 8, last)
            while i < stop:
                v = x[i] - bias - (w[j] >> shift)
                upper, v = v >> 14, v & 16383
                low += v * v
                middle += upper * v
                high += upper * upper
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
        out[k + 2] = top & 0xFFFFFFF  # weights may have any value
        k += 3


def squares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write these as float32, rounded once to nearest even.

    If the row is not finite, write inf or 0x7FC00000. x holds the row and the limbs behind it.

    Access:
        vectors = max(out_end - out_start, 0)
        reads x[0 : 1]
        reads x[2 + elements : 2 + elements + 3 * vectors]
        writes out[out_start : out_start + vectors]
        given 1 <= x[0 : 1] <= 256
        given 0 <= x[2 + elements : 2 + elements + 3 * vectors] < 1 << 28
    """
    k = 0
    exponent = x[k]
    i, k = p[_ELEMENTS] + 2, p[_OUT_START]
    while k < p[_OUT_END]:
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
