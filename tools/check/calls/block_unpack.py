"""Random calls of loops/block_unpack: see on_board_loops."""


def unpack(d):
    bits = (16, 8, 4)[d.below(3)]
    rows, k = d.between(1, 4), d.below(30)
    row = k * 2 if bits == 16 else k if bits == 8 else (k + 1) // 2
    first, at = d.below(9), d.below(4)
    w = bytes([v & 255 for v in d.words(first + rows * row + 1)])
    return w, w, d.blank("i", at + rows * k + 1), [first, rows, k, at, bits]
