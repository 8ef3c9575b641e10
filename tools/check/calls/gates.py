"""Random calls of loops/gates: see on_board_loops."""


def gate32(d):
    n, first, at = d.between(1, 9), d.below(4), d.below(4)
    return d.words(20), d.words(4), d.blank("i", at + n + 1), [first, n, at, d.below(2)]
