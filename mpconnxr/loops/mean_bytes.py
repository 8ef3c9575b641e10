"""Quantization of float32 means.

rounded   Write round(mean / out_scale) + out_zero_point, the quotient rounded as float32.
bytes_of  Write the byte by thresholds.

x of bytes_of holds 255 words, the levels, as in loops/levels. w holds the list and its means, as
loops/means writes them. out gets planes (out_rows, out_columns) of elements of bytes_per_element
from element out_start on.
"""

from ._floats import halve
from ._windows import _OUT_START
from .means import (
    _BYTES_PER_ELEMENT,
    _FLIP,
    _HIGH,
    _LISTED,
    _NEGATIVE_LEVELS,
    _OUT_LEAST,
    _OUT_SCALE,
    _OUT_SCALE_EXPONENT,
    _OUT_ZERO_POINT,
)

# Parameters of bytes_of, rounded: as means.means


def bytes_of(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Quantize means by thresholds.

    Access:
        windows = planes * out_rows * out_columns
        requires negative_levels < 256
        given choose has written its list to w
        reads x[0 : 255] if listed
        reads w[0 : listed]
        reads w[64 : 64 + listed]
        reads w[128 : 128 + listed]
        writes out[out_start : out_start + windows] if listed
        given 0 <= w[0 : listed] < planes * out_rows * out_columns
        given 1 << 23 <= w[64 : 64 + listed] <= 1 << 24
        given 156 <= w[128 : 128 + listed] <= 344
        given 0 <= x[0 : 255] < 172 << 23 if listed
    """
    for listed in range(p[_LISTED]):
        low, high, exponent = 0, p[_NEGATIVE_LEVELS], w[128 + listed]
        bits = w[64 + listed]
        if exponent < 2 or not bits:
            bits = 0
        else:
            bits += ((exponent >> 1) - 1) << 23
        if exponent & 1:
            while low < high:
                middle = (low + high) >> 1
                if x[middle] < bits:
                    high = middle
                else:
                    low = middle + 1
        else:
            low, high = high, 255
            while low < high:
                middle = (low + high) >> 1
                if x[middle] > bits:
                    high = middle
                else:
                    low = middle + 1
        out[p[_OUT_START] + w[listed]] = (low + p[_OUT_LEAST]) & 255


def rounded(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Quantize means by a scale.

    Access:
        given choose has written its list to w
        reads w[0 : listed]
        reads w[64 : 64 + listed]
        reads w[128 : 128 + listed]
        start, end = out_start, out_start + planes * out_rows * out_columns
        writes out[start * bytes_per_element : end * bytes_per_element] if listed
        given 0 <= w[0 : listed] < planes * out_rows * out_columns
        given 1 << 23 <= w[64 : 64 + listed] <= 1 << 24
        given 156 <= w[128 : 128 + listed] <= 344
        given out_scale >= 1 << 23 and 80 <= out_scale_exponent <= 170
        given high == (1 << 8 * bytes_per_element) - 1 and out_zero_point <= high and flip <= high
    """
    for listed in range(p[_LISTED]):
        a = w[64 + listed]
        n = (w[128 + listed] >> 1) - p[_OUT_SCALE_EXPONENT]
        a, n = halve(a, n, 24)
        if a < p[_OUT_SCALE]:
            a = a << 1
            n -= 1
        k = 0
        if a and n > 19:
            k = 1 << 20
        elif a and n > 0 - 2:
            # The quotient: 1 and 24 fraction bits, 6 at a time.
            m = 1
            a -= p[_OUT_SCALE]
            while m >> 24 == 0:
                a = a << 6
                k = a // p[_OUT_SCALE]
                a -= k * p[_OUT_SCALE]
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
        k += p[_OUT_ZERO_POINT]
        k = min(max(k, 0), p[_HIGH])
        k = k ^ p[_FLIP]
        n = (p[_OUT_START] + w[listed]) * p[_BYTES_PER_ELEMENT]
        out[n] = k & 255
        if p[_BYTES_PER_ELEMENT] > 1:
            out[n + 1] = k >> 8
