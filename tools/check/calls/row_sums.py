"""Random calls of loops/row_sums: see on_board_loops."""

from array import array


def row_sums(d):
    first, at = d.below(3), d.below(3)
    groups, n, row = d.between(1, 3), d.between(1, 9), d.below(6)
    w = d.words(first + groups * n * row + 1)
    out = array("i", [v >> 2 for v in d.words(at + 2 * groups * n)])
    return w, w, out, [first, at, groups, n, row, d.below(256)]


def zero_point(d):
    n = d.between(1, 9)
    return d.octets(1), bytearray(1), d.blank("B", n + 1), [n, 128 * d.below(2)]
