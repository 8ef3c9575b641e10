"""Random calls of loops/qpool (see draw.py).

Multiplier and shift put means in the middle between two bytes.
"""

from array import array


def _multiplier(d):
    """Draw the two words of a multiplier; many put means in the middle, or close to it."""
    zeros = d.below(31)
    mantissa = (1 << 30 | d.word() & 0x3FFFFFFF) >> zeros << zeros
    return d.below(26) | d.below(2) << 5, mantissa - d.below(2)


def means8(d):
    planes, h, width = d.between(1, 3), d.between(1, 6), d.between(1, 6)
    kh, kw, sy, sx = d.between(1, 4), d.between(1, 4), d.between(1, 2), d.between(1, 2)
    py, px = d.below(kh), d.below(kw)
    oh, ow = (h + py - 1) // sy + 1, (width + px - 1) // sx + 1
    is_per_count = d.below(2)
    w = array("i", [v for _ in range(kh * kw + 1) for v in _multiplier(d)])
    first, out_first = d.below(4), d.below(4)
    x = d.octets(first + planes * h * width)
    out = d.blank("B", out_first + planes * oh * ow + 1)
    p = [first, out_first, planes, h, width, kh, kw, sy, sx, py, px, oh, ow, is_per_count]
    return x, w, out, p + [d.below(256), d.below(256), d.below(2) * 128]
