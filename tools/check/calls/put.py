"""Random calls of loops/put: see on_board_loops."""

from array import array


def _call(d, make_x, kind):
    n, inner, hi = d.between(1, 6), d.between(1, 5), d.between(1, 7)
    index = array("i", [d.word() if d.below(8) == 0 else d.below(n) for _ in range(hi)])
    p = [d.below(hi), hi, n, inner, 0, 0, 0, 0, 0, 0]
    return make_x(hi * inner), index, d.blank(kind, n * inner), p


def put8(d):
    return _call(d, d.octets, "B")


def put32(d):
    return _call(d, d.words, "i")
