"""Random calls of loops/wide_dots (see draw.py).

A table of bytes holds words with shifts and multipliers.
"""

import struct
from array import array

_BIAS = 1 << 29


def _elements(d, n):
    return array("H", [d.word() & 65535 for _ in range(n)])


def _limits(d):
    low = d.between(-32768, 30000)
    return [_BIAS + d.between(-32768, 32767), _BIAS + low, _BIAS + low + d.below(35000)]


def _multiplier(d):
    """Draw the word of a scale with 24 bits."""
    f = d.below(25) if d.below(2) else d.between(33, 63)
    return (1 << 23 | d.word() & 0x7FFFFF) << 8 | f


def wide_dots(d):
    k, n, m = d.between(1, 300), d.between(1, 3), d.between(1, 5)
    x = array("H")
    for _ in range(n):
        elements = _elements(d, k)
        total = sum(elements)
        x.extend(array("H", [total & 65535, total >> 16]))
        x.extend(elements)
    w = bytearray()
    for _ in range(m):
        w += struct.pack("<iII", d.word() >> d.between(4, 20), d.below(32768), _multiplier(d))
    w += d.octets(k * m)
    at, strides = d.below(3), [m + 1, 1] if d.below(2) else [1, n + 2]
    out = d.blank("H", at + (n - 1) * strides[0] + (m - 1) * strides[1] + 2)
    return x, w, out, [12 * m, 0, k, n, m, at] + strides + [0] + _limits(d)
