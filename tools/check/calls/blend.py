"""Random calls of loops/blend (see draw.py).

A block lists columns, each with bytes of a row and weights.
"""

from array import array

_W = 192  # start of the corners in the words of blend


def _weight(d):
    """Draw the bits of a float from 0 to 1, often one with few bits, as half a pixel has."""
    kind = d.below(4)
    if kind == 0:
        return d.between(100, 126) << 23 | d.word() & 0x7FFFFF
    return (0, 126 << 23, 0x3E800000, 0x3F400000, 0x3F800000, 0x3F6AAAAB)[d.below(6)]


def _block(d, columns, planes, width):
    n = 4 * width
    p = [d.below(n - width), d.below(n - width), d.below(4), d.below(columns * planes), d.below(5)]
    p += [d.below(3), 3, columns, n, columns + 3, planes]
    p += [d.below(256), 128 * d.below(2), d.below(256), 128 * d.below(2)]
    p += [(0, 14, 21, 28)[d.below(4)], d.between(2048, 4095), d.below(4096), d.between(127, 130)]
    p += [d.between(2048, 4095), d.below(4096), d.between(80, 170)]
    for _ in range(columns):
        p += [d.below(width), d.below(width), _weight(d), _weight(d)]
    return p


def corners(d):
    rows = array("i", [_weight(d) for _ in range(12)])
    columns = d.between(1, 5)
    return rows, rows, d.blank("i", _W + 8 * columns), _block(d, columns, 1, 8)


def _call(d):
    columns, planes = d.between(1, 4), d.between(1, 3)
    p = _block(d, columns, planes, 6)
    listed = [p[2] + d.below(planes) * p[9] + d.below(columns) for _ in range(64)]
    corners = [_weight(d) for _ in range(4 * columns)]
    integers = [d.word() & 0xFFFFF for _ in range(4 * columns)]
    return d.octets(24 * planes), array("i", listed + [0] * 128 + corners + integers), p


def blend(d):
    x, w, p = _call(d)
    return x, w, w[:], p


def estimate(d):
    x, w, p = _call(d)
    return x, w, d.blank("B", 8 * p[10] + 4), p
