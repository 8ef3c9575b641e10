"""Random calls of loops/best: see on_board_loops."""

from array import array


def best32(d):
    outer, n, inner, words = d.between(1, 3), d.between(1, 9), d.between(1, 3), d.between(1, 2)
    k, lo = d.between(1, n), d.below(outer * inner)
    x = array("i", [v & 0x7FFFFF | 0x3F000000 for v in d.words(outer * n * inner)])  # no NaN
    x = array("i", [v - 0x7FFFFFFF - 1 if d.below(2) else v for v in x])
    if d.below(2):
        x[d.below(len(x))] = x[d.below(len(x))] = d.below(2) * (-0x7FFFFFFF - 1)
    w, out = d.blank("i", outer * k * inner * words), d.blank("i", outer * k * inner + 1)
    return x, w, out, [lo, outer * inner, n, inner, k, d.below(2), words]
