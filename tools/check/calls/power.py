"""Random calls of loops/power (see draw.py): powers32 takes logarithms that lie in the block."""

_TABLE = [
    d << 20 for d in (0, 0, 8, 89, 512, 0, 1, 9, 106, 609, 0, 1, 11, 125, 724, 0, 1, 13, 149, 861)
]


def _places(d):
    n, first = d.between(1, 9), d.below(4)
    return [first, first + n, d.below(2), d.below(2)] + _TABLE


def powers32(d):
    p = _places(d)
    for _ in range(p[1] - p[0]):
        p += [d.below(8) and (1 << 29) + (d.word() & (1 << 29) - 1), d.below(110)]
    return d.words(16), d.words(16), d.blank("i", 16), p
