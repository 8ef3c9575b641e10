"""Random calls of loops/curve (see draw.py).

Segments have polynomials, which are found by a search for x.
"""

from array import array

_BIAS = 1 << 30
_SEGMENTS = 9


def _segment(d, kind):
    number = d.between(380, 640) if kind & 1 == 0 else d.below(7)
    return [kind + 4 * number] + [_BIAS + (d.word() >> 5) for _ in range(5)] + [_BIAS + _whole(d)]


def _whole(d):
    """Draw the constant of a polynomial, often one that makes results 0 or less."""
    return d.word() >> 2 if d.below(3) == 0 else (1 << 28) + d.below(4096) * (1 << 16)


def _half(d):
    low = d.between(110, 140) << 23
    n = d.below(_SEGMENTS - 1)
    high = low + (n << 21) + (d.below(1 << 12) << 9) * (n > 0)
    if n == _SEGMENTS - 2:
        high = low + (n << 21)
    point = d.between(20, 26)
    slope = d.below(2) * (d.word() & (1 << 30) - 1)
    end = (157 - point) << 23 if slope else 0x7F800000
    return [low, high, end, 0, slope, point, d.below(4), (d.word() & 0x7FFFFFFF) % 0x7F800001]


def curve32(d):
    n, first = d.between(1, 9), d.below(4)
    kind = d.below(4)
    w = array("i", [])
    for i in range(_SEGMENTS + 4):
        w.extend(array("i", _segment(d, kind if i < _SEGMENTS else 0)))
    p = [first, first + n, _SEGMENTS] + _half(d) + _half(d)
    return d.words(16), w, d.blank("i", 16), p
