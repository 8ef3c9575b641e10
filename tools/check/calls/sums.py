"""Random calls of loops/sums: see on_board_loops."""

from array import array


def sum32(d):
    outer, n, inner = d.between(1, 3), d.between(1, 9), d.between(1, 3)
    x = d.words(outer * n * inner)
    if d.below(2):  # of near exponents
        x = [(v & 0x7FFFFF) | ((90 + d.below(50)) << 23) for v in x]
        x = array("i", [v if d.below(2) else v - 0x7FFFFFFF - 1 for v in x])
    p = [d.below(2), outer * inner, n, inner, d.below(3), d.below(3)]
    return x, d.words(1), d.blank("i", outer * inner + 1), p
