"""Random calls of loops/channels: see on_board_loops."""

_BIAS = 1 << 29


def channels(d):
    first, at, n = 4 * d.below(3), 4 * d.below(3), d.between(1, 9)
    c, word = d.below(30), d.below(30)
    low = d.below(min(c, 7) + 1)
    c = min(c, 26)
    least = d.between(-(1 << d.below(26)), 1 << 20)
    word_least = d.between(0, 31) << 23 | d.word() & 0x7FFFFF
    x = d.octets(first + (n * (c + word) + 31) // 32 * 4)
    p = [first, at, n, c, _BIAS + least, word, word_least, low, d.below(128)]
    return x, x, d.blank("B", at + 8 * n), p
