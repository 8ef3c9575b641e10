"""Random calls of loops/units: see on_board_loops."""

from array import array


def floats(d, n):
    """Often of one size, and finite."""
    if d.below(4) == 0:
        return d.words(n)
    size = d.between(1, 230) << 23
    words = [size + (d.word() & 0xFFFFFFF) - (d.below(24) << 23) for _ in range(n)]
    words = [min(max(v, 0), 0x7F7FFFFF) for v in words]
    return array("i", [v - (1 << 31) if d.below(2) else v for v in words])


def units(d):
    x, n, first = floats(d, 24), d.between(1, 16), d.below(8)
    largest = max([v >> 23 & 255 for v in x[first : first + n]])
    least = min(max(largest - 20 + d.below(40), 1), 254)
    return x, x, d.blank("i", 20), [first, n, least]
