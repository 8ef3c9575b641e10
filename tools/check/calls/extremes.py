"""Random calls of loops/extremes: see on_board_loops."""


def extreme32(d):
    outer, n, inner = d.between(1, 3), d.between(1, 9), d.between(1, 3)
    p = [d.below(2), outer * inner, n, inner, d.below(2)]
    return d.words(outer * n * inner), d.words(1), d.blank("i", outer * inner + 1), p
