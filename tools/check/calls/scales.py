"""Random calls of loops/scales: see on_board_loops."""


def scales32(d):
    n = d.between(1, 9)
    return d.words(4), d.words(n), d.blank("i", n + 1), [d.below(4), n, 0x7FFFFFFF]
