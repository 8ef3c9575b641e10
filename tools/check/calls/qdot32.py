"""Random calls of loops/qdot32 (see draw.py).

A table of bytes holds words, sums lie before the elements.
"""

from .qdot import dots


def qdots32(d):
    x, w, out, p, of_x = dots(d, "i", _factor)
    return x, w, out, p + [d.below(256), d.below(len(x)) * d.below(2), 0] + of_x


def _factor(d):
    return d.below(1000) if d.below(2) else -d.below(1000) & 0xFFFFFFFF
