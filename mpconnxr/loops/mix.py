"""Weighted sums of neighbours along the middle axis of (outer, n, inner), on float32's bits.

Written once, for Python and viper.

x, out  float32 as words;  w  float32 as words: weights (n_out, taps), of a sum of |w| below 2
p       lo, hi: range of rows of the output; n_in, inner, n_out, taps, first tap of each of n_out

Items count in units of 2**-29 of the largest one's power of two, weights in 2**-28; the sum is
rounded to nearest once. A weight of zero leaves its item out. One NaN, 0x7FC00000.
"""

from ._floats import rank_item, weigh_item, weighed_sum
from ._hints import far
from ._words import bit


def mix32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n_in, inner, n_out, taps = p[2:6]
        firsts = p[6 : 6 + n_out]
        first = p[0] // n_out * n_in + min(firsts)
        last = (p[1] - 1) // n_out * n_in + max(firsts) + taps - 1
        reads x[first * inner : (last + 1) * inner] if p[0] < p[1]
        reads w[0 : n_out * taps] if p[0] < p[1]
        reads p[6 : 6 + n_out]
        writes out[p[0] * inner : p[1] * inner]
    """
    top = bit(31)
    infinity, at = top - 1 - 0x7FFFFF, p[0] * p[3]
    row, inner = p[0] % p[4], p[3]
    base = p[0] // p[4] * p[2]
    for line in far(range(p[0], p[1])):
        first, begin = (base + p[6 + row]) * inner, row * p[5]
        end, stop = begin + p[5], at + inner
        while far(at < stop):
            most, found = 1, 0
            i = first
            for t in range(begin, end):
                v, b = x[i], w[t]
                if b & (top - 1):
                    most, found, a, n = rank_item(v, b, most, found)
                i += inner
            total, i = 0, first
            for t in range(begin, end):
                a, b = x[i], w[t]
                n, v = ((b >> 23) & 255) - 122, (b & 0x7FFFFF) | 0x800000
                if n < 0:
                    n = 0 - n
                    v = (v + (1 << n >> 1)) >> n if n < 26 else 0
                else:
                    n = min(n, 6)
                    v = v << n
                m, n = weigh_item(a, v, most)
                if ((a ^ b) >> 31) & 1:
                    m = 0 - m
                total += m
                i += inner
            total, most, n, b = weighed_sum(total, most, found, infinity, top)
            out[at] = total
            first += 1
            at += 1
        row += 1
        if row == p[4]:
            row = 0
            base += p[2]
