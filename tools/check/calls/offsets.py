"""Random calls of loops/offsets: see on_board_loops."""

from array import array

from .gather import index_words


def offsets(d):
    rank, n, words, hi = d.between(1, 3), d.between(1, 3), d.between(1, 2), d.between(1, 9)
    dims = [d.between(1, 4) for _ in range(rank)]
    strides, sizes = [d.below(9) for _ in range(rank)], [d.between(1, 6) for _ in range(n)]
    x = array("i", [])
    for i in range(hi * n):
        x.extend(array("i", index_words(d, words, sizes[i % n])))
    p = [d.below(hi), hi, rank, n, words, 0, -1, 0, 0, 0] + dims + strides + sizes
    return x, x, d.blank("i", hi), p + [d.below(7) for _ in range(n)] + [0] * rank
