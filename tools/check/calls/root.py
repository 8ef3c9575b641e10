"""Random calls of loops/root: see on_board_loops."""

from array import array


def sqrt32(d):
    n, first = d.between(1, 9), d.below(4)
    x = array("f", bytes(d.words(16)))
    return x, x, d.blank("f", 16), [first, first + n]
