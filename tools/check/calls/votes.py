"""Random calls of loops/votes: see on_board_loops."""

from .squares import integers, row
from .units import floats


def pairs(d):
    n, first = d.between(1, 4), d.below(3)
    ends = [d.below(2)]
    for _ in range(n):
        ends.append(ends[-1] + d.below(12))
    vectors = ends[-1] + d.below(2)
    w = integers(d, max((n - 1) * vectors, 1))
    out = d.blank("i", first + n * (n - 1) // 2 + 1)
    return row(d, vectors), w, out, [first, n, vectors, d.between(1, 254)] + ends


def votes(d):
    n, lo = d.between(1, 4), d.below(2)
    x = floats(d, 2 * n * (n - 1) // 2 + 1)
    return x, x, d.blank("i", 2 * n + 1), [lo, 2, n]
