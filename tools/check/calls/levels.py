"""Random calls of loops/levels (see draw.py).

Levels are sorted, falling below zero and rising above.
"""

from array import array

_MASK = 0x7FFFFFFF


def levels8(d):
    most = 128 if d.below(2) else 9
    below = d.below(most)
    n = below + d.between(1, most - 1)
    bits = [d.word() & _MASK for _ in range(n)]
    levels = sorted(bits[:below], reverse=True) + sorted(bits[below:])
    lo = d.below(8)
    p = [lo, lo + d.below(33), below, n, d.below(256), 0x7F800000, _MASK, d.below(256)]
    return d.words(40), array("i", levels), d.blank("B", 42), p
