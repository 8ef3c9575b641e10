"""Random calls of loops/arg_bits: see on_board_loops."""


def arg_reduce(d):
    outer, n, inner, words = d.between(1, 3), d.between(1, 6), d.between(1, 3), d.between(1, 2)
    x = d.words(outer * n * inner)
    if d.below(2):  # equal ones
        x[d.below(len(x))] = x[d.below(len(x))]
    lo = d.below(outer * inner)
    flags = [d.below(2), d.below(2), words, 0x7FFFFFFF, 0x7F800000]
    return x, x, d.blank("i", outer * inner * words + 1), [lo, outer * inner, n, inner] + flags


def arg_reduce8(d):
    outer, n, inner, words = d.between(1, 3), d.between(1, 6), d.between(1, 3), d.between(1, 2)
    x = d.octets(outer * n * inner)
    if d.below(2):  # equal ones
        x[d.below(len(x))] = x[d.below(len(x))]
    lo = d.below(outer * inner)
    p = [lo, outer * inner, n, inner, d.below(256), d.below(2), words]
    return x, x, d.blank("i", outer * inner * words + 1), p
