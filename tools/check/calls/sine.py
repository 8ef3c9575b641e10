"""Random calls of loops/sine: see on_board_loops."""

from array import array

_TERMS = [296, 26631, 1491308, 44739243, 1 << 29, 1 << 30, 27, 2959, 213044, 8947849, 178956971]
_TERMS.append(1 << 30)


def sine32(d):
    n = d.between(1, 9)
    w = array("i", [0, 0] + [d.below(1 << 12) * 8 + d.below(8) for _ in range(13)] + _TERMS)
    return d.words(n), w, d.blank("i", n + 1), [0, n, d.below(2), 0, 0, 0, 0, 0, 0]
