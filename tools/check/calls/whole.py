"""Random calls of loops/whole: see on_board_loops."""


def whole32(d):
    n = d.between(1, 9)
    return d.words(n), d.words(1), d.blank("i", n + 1), [0, n, d.below(6)]
