"""Rows of float32 as integers of one unit, which loops/squares and loops/votes go on with. Written
once, for Python and viper.

x       float32 as words;  w is not read
out     exponent E of the row: that of its largest number or p[2], whichever is more (255: a number
        is inf, 256: one is NaN, and the integers say nothing); E - p[2], up to 30; then
        x * 2**(152 - E), rounded to nearest, half away from 0, + 2**26
p       first item of x, number of items, least exponent (1 to 254)
"""

from ._floats import first_bit, largest_bits, unpack
from ._words import all_but_sign, signed


def units(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[0 : 2 + p[1]]
    """
    mask = all_but_sign()
    most, i = 0, p[0]
    end = i + p[1]
    most, i, v = largest_bits(most, x, i, end, mask)
    e = max(most >> 23, p[2])
    if e == 255 and most & 0x7FFFFF:
        e = 256
    k = 0
    out[k] = e
    k += 1
    out[k] = min(e - p[2], 30)
    k += 1
    i = p[0]
    while i < end:
        v = x[i]
        m, s = unpack(v)
        m, s = first_bit(m, s)
        s = e - s
        m = signed(((m << 2) + (1 << s >> 1)) >> s if s < 28 else 0, (v >> 31) & 1)
        out[k] = m + (1 << 26)
        i += 1
        k += 1
