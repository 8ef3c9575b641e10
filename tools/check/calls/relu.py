"""Random calls of loops/relu: see on_board_loops."""


def relu32(d):
    lo = d.below(8)
    x = d.words(40)
    return x, x, d.blank("i", 40), [lo, lo + d.below(33)]
