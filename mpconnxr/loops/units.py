"""Rows of float32 as integers in a common unit, for loops/squares and loops/votes.

x holds float32 as words; w is not read. out gets the row's exponent E, the larger of that of its
largest element and least_exponent (255: an element is inf, 256: one is NaN, and the integers are
not valid); then E - least_exponent, up to 30; then x * 2**(152 - E) + 2**26, rounded half away
from 0.
"""

from ._floats import first_bit, largest_bits, unpack
from ._words import all_but_sign, signed

# Parameters of units
_X_START = 0  # start of the row [elements] 0..
_ELEMENTS = 1  # of the row [elements] 0..
_LEAST_EXPONENT = const(2)  # least E of the row [exponent] 1..254


def units(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Convert a row.

    Access:
        reads x[x_start : x_start + elements]
        writes out[0 : 2 + elements]
    """
    mask = all_but_sign()
    most, i = 0, p[_X_START]
    end = i + p[_ELEMENTS]
    most, i, v = largest_bits(most, x, i, end, mask)
    exponent = max(most >> 23, p[_LEAST_EXPONENT])
    if exponent == 255 and most & 0x7FFFFF:
        exponent = 256
    k = 0
    out[k] = exponent
    k += 1
    out[k] = min(exponent - p[_LEAST_EXPONENT], 30)
    k += 1
    i = p[_X_START]
    while i < end:
        v = x[i]
        m, s = unpack(v)
        m, s = first_bit(m, s)
        s = exponent - s
        m = signed(((m << 2) + (1 << s >> 1)) >> s if s < 28 else 0, (v >> 31) & 1)
        out[k] = m + (1 << 26)
        i += 1
        k += 1
