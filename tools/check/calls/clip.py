"""Random calls of loops/clip: see on_board_loops."""


def clip32(d):
    lo = d.below(8)
    x = d.words(40)
    return x, x, d.blank("i", 40), [lo, lo + d.below(33), d.word(), d.word()]
