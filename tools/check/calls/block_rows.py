"""Random calls of loops/block_rows: see on_board_loops."""


def rows(d):
    n, k, has_bias, first = d.between(1, 4), d.below(9), d.below(2), d.below(4)
    x = d.words(first + n * (k + has_bias) + 1)
    at = n * k
    return x, x, d.blank("i", at + n + 1), [first, n, k, 0, at, at + n, has_bias]
