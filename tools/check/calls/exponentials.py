"""Random calls of loops/exponentials: see on_board_loops."""

from array import array


def _line(d):
    """First item, end, stride of up to 9 items among 40."""
    stride, first = d.between(1, 4), d.below(4)
    return [first, first + d.between(1, 9) * stride, stride]


def _floats(d):
    """Often of one size, and finite."""
    if d.below(3) == 0:
        return d.words(48)
    size = d.between(100, 140) << 23
    words = d.words(48)
    return array("i", [size + (v & 0xFFFFFF) - (v & 0x80000000) for v in words])


def heights(d):
    return _floats(d), d.words(4), d.blank("i", 48), _line(d) + [0, 0]


def exponentials(d):
    shift = d.below(4) * d.below(12)
    most = d.below(1 << 12) << 18
    x = array("i", [most - (d.word() & (1 << 30) - 1) % (most + 1) for _ in range(48)])
    w = array("i", [(1 << 30) - (d.word() & (1 << 29) - 1) for _ in range(32)])
    return x, w, d.blank("i", 48), _line(d) + [most, shift, 0, 0]


def shares(d):
    x = array("i", [d.word() & 0x3FFFFFFF for _ in range(48)])
    p = _line(d) + [d.below(4), 0, (1 << 15) + d.below(4096), d.word() & 0x7FFF]
    return x, x, d.blank("i", 48), p
