"""Random calls of loops/sine: see on_board_loops."""

from array import array


def sine32(d):
    n = d.between(1, 9)
    w = array("i", [0, 0] + [d.below(1 << 12) * 8 + d.below(8) for _ in range(13)])
    return d.words(n), w, d.blank("i", n + 1), [0, n, d.below(2), 0, 0, 0, 0, 0, 0]
