"""Weighted sums of neighbours along the middle axis of three, on the bits of float32.

x holds float32 as words (outer, x_length, inner), out (outer, out_length, inner), w the weights of
each of out_length positions (out_length, taps), whose magnitudes add up to less than 2.

Elements are in units of 2**-29 of the power of two of the largest, weights in units of 2**-28. The
sum is rounded to nearest once. A weight of 0 excludes its element. NaN is 0x7FC00000.
"""

from ._floats import rank_element, weigh_element, weighed_sum
from ._hints import far
from ._words import bit

# Parameters of mix32
_START = 0  # first row of out [rows] 0..
_END = 1  # end, exclusive [rows] 0..
_X_LENGTH = 2  # of the middle axis of x [rows] 0..
_INNER = 3  # elements of a row [elements] 1..
_OUT_LENGTH = 4  # of the middle axis of out [rows] 1..
_TAPS = 5  # neighbours per sum [rows] 0..
_TAP_STARTS = 6  # first neighbour in x of each of out_length rows [rows x n] 0..


def mix32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute rows of weighted sums.

    Access:
        starts = tap_starts[0 : out_length]
        first = start // out_length * x_length + min(starts)
        last = (end - 1) // out_length * x_length + max(starts) + taps - 1
        reads x[first * inner : (last + 1) * inner] if start < end
        reads w[0 : out_length * taps] if start < end
        reads p[6 : 6 + out_length]
        writes out[start * inner : end * inner]
        given max(starts) + taps <= x_length
    """
    top = bit(31)
    infinity, at = top - 1 - 0x7FFFFF, p[_START] * p[_INNER]
    row, inner = p[_START] % p[_OUT_LENGTH], p[_INNER]
    base = p[_START] // p[_OUT_LENGTH] * p[_X_LENGTH]
    for left in far(range(p[_START], p[_END])):
        first, begin = (base + p[_TAP_STARTS + row]) * inner, row * p[_TAPS]
        end, stop = begin + p[_TAPS], at + inner
        while far(at < stop):
            most, specials = 1, 0
            i = first
            for tap in range(begin, end):
                v, b = x[i], w[tap]
                if b & (top - 1):
                    most, specials, a, n = rank_element(v, b, most, specials)
                i += inner
            total, i = 0, first
            for tap in range(begin, end):
                a, b = x[i], w[tap]
                n, v = ((b >> 23) & 255) - 122, (b & 0x7FFFFF) | 0x800000
                if n < 0:
                    n = 0 - n
                    v = (v + (1 << n >> 1)) >> n if n < 26 else 0
                else:
                    n = min(n, 6)
                    v = v << n
                product, n = weigh_element(a, v, most)
                if ((a ^ b) >> 31) & 1:
                    product = 0 - product
                total += product
                i += inner
            total, most, n, b = weighed_sum(total, most, specials, infinity, top)
            out[at] = total
            first += 1
            at += 1
        row += 1
        if row == p[_OUT_LENGTH]:
            row = 0
            base += p[_X_LENGTH]
