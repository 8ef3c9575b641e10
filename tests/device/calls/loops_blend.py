"""Random calls of loops_blend: see loop_forms."""

from array import array

_W = 511  # where corners lie in the words of blend


def _weight(d):
    """The bits of a float from 0 to 1: often one with few bits, as half a pixel has."""
    kind = d.below(4)
    if kind == 0:
        return d.between(100, 126) << 23 | d.word() & 0x7FFFFF
    return (0, 126 << 23, 0x3E800000, 0x3F400000, 0x3F800000, 0x3F6AAAAB)[d.below(6)]


def _block(d, columns, planes, width):
    n = 4 * width
    p = [d.below(n - width), d.below(n - width), d.below(4), columns, n, columns + 3, planes]
    p += [d.below(256), 128 * d.below(2), d.below(256), 128 * d.below(2), 4 * d.below(3)]
    p += [(0, 14, 21, 28)[d.below(4)], d.between(2048, 4095), d.below(4096), d.between(127, 130)]
    p += [d.below(columns * planes), d.below(5)]
    for _ in range(columns):
        p += [d.below(width), d.below(width), _weight(d), _weight(d)]
    return p


def corners(d):
    rows = array("i", [_weight(d) for _ in range(12)])
    columns = d.between(1, 5)
    return rows, rows, d.blank("i", _W + 8 * columns), _block(d, columns, 1, 8)


def blend(d):
    columns, planes = d.between(1, 4), d.between(1, 3)
    least = d.between(80, 140) << 23
    floats = [0] + sorted([least + (d.word() & 0x1FFFFFF) for _ in range(255)])
    p = _block(d, columns, planes, 6)
    levels = sorted([least - (8 << 23) + (d.word() & 0x5FFFFFF) for _ in range(255)])
    levels = levels[: p[9]][::-1] + levels[p[9] :]
    corners = [_weight(d) for _ in range(4 * columns)]
    integers = [d.word() & 0xFFFFF for _ in range(4 * columns)]
    listed = [d.below(columns * planes) for _ in range(64)]
    w = array("i", floats + levels + corners + integers + listed)
    return d.octets(24 * planes), w, d.blank("B", 8 * planes + 4), p


def estimate(d):
    return blend(d)
