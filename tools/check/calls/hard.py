"""Random calls of loops/hard: see on_board_loops."""


def hard32(d):
    lo = d.below(8)
    x = d.words(40)
    slope, offset = (1 << 29) + (d.word() & 0x1FFFFFFF), d.word() & 0x3FFFFFFF
    p = [lo, lo + d.below(33), slope, d.between(90, 254), offset, d.below(2)]
    return x, x, d.blank("i", 40), p
