"""Random calls of loops/qsoftmax: see on_board_loops."""

from array import array


def powers(d):
    x = array("i", [0])
    return x, x, d.blank("i", 257), [d.between(1, 1 << 20), d.below(1 << 15), d.below(1 << 15)]


def softmax8(d):
    n, outer, inner = d.between(1, 9), d.between(1, 3), d.between(1, 3)
    w = array("i", [1 << 20] + [(d.word() & 0xFFFFF) >> d.below(20) for _ in range(255)])
    x = d.octets(outer * n * inner)
    lo = d.below(outer * inner)
    p = [lo, d.between(lo, outer * inner), n, inner, d.below(2) * 128]
    return x, w, d.blank("B", outer * n * inner + 1), p + [d.between(1, 511), 1, d.below(256)]
