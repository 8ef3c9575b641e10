"""Random calls of loops/block_narrow: see on_board_loops."""

from array import array

_CODES = {16: "H", 8: "B", 4: "B"}  # of weights, by their bits


def dots(d):
    bits = (16, 8, 4)[d.below(3)]
    most = 255 if bits == 4 else (1 << bits) - 1  # 4 bits: two a byte
    rows, k, m = d.between(1, 4), d.below(d.between(1, 300)), d.between(1, 6)
    first, w_first, step, at = d.below(4), d.below(4), d.below(k + 3), d.below(4)
    w_step = (k + 1) // 2 if bits == 4 else k
    kind = d.below(16)
    x = [(v & 0xFFFFFF) - (1 << 23) for v in d.words(first + rows * step + k + 1)]
    w = [v & most for v in d.words(w_first + m * w_step + 1)]
    if kind < 2:  # all that there can be, so that sums grow
        x, w = [0xFFFFFF * kind - (1 << 23)] * len(x), [most] * len(w)
    out = d.blank("i", at + rows * 3 * (m + 1))
    return array("i", x), array(_CODES[bits], w), out, [first, rows, step, k, w_first, m, at, bits]
