"""Random calls of loops/nearest (see draw.py).

Most quotients lie within bytes, near the middle of two.
"""

from array import array

_MASK = 0x7FFFFFFF


def nearest8(d):
    e = d.between(27, 227)
    scale = array("i", [e << 23 | d.word() & 0x7FFFFF])
    x = array("i", d.words(40))
    for i in range(30):  # most of them within the bytes' range
        sign = (x[i] >> 31) << 31
        e_x = e + d.below(12) - 2
        x[i] = sign + (e_x << 23) + (x[i] & 0x7FFFFF)
    lo = d.below(8)
    p = [lo, lo + 1 + d.below(32), d.below(256), 128 * d.below(2), d.below(256), _MASK, 0x7F800000]
    return x, scale, d.blank("B", 42), p
