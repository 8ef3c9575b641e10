"""Random calls of loops_band: see loop_forms."""


def pool(d):
    channels, rows, n, windows, more = (d.between(1, 3) for _ in range(5))
    first, row = d.below(4), n * windows + more
    x = d.words(channels * rows * row)
    p = [channels, rows, row, n, windows, first, windows + more]
    return x, x, d.blank("i", first + channels * (windows + more)), p
