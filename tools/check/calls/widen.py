"""Random calls of loops/widen: see on_board_loops."""

from array import array


def widen(d):
    n = d.below(40)
    x = array("H", [v & 0xFFFF for v in d.words(n + 1)])
    return x, x, d.blank("H", 2 * n), [n]
