"""Random calls of loops/decay: see on_board_loops."""

from array import array

from .units import floats


def decay32(d):
    n, lo = d.between(1, 9), d.below(3)
    x = d.words(n)
    if d.below(3):
        x = array("i", [(v & 0x7FFFFF) + (d.between(90, 140) << 23) for v in floats(d, n)])
    w = array("i", [(1 << 30) - (1 << 24) * i for i in range(32)])
    g = (1 << 29) + (d.word() & (1 << 29) - 1)
    return x, w, d.blank("i", n + 1), [min(lo, n), n, g, d.between(0, 60)]
