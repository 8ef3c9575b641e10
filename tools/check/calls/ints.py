"""Random calls of loops/ints: see on_board_loops."""

from array import array

from .order import place


def _pairs(d, kind, n, flag):
    x, w, _, p = place(d, "i", flag)
    x, w = array("i", bytes(x)), array("i", bytes(w))
    for i in range(0, 96, 2):  # many that are equal, or nearly so
        w[i] = x[i] if d.below(2) else d.below(5) - 2
        x[i + 1] = d.below(5) - 2
    return x, w, array(kind, [77] * n), p


def sum32(d):
    return _pairs(d, "H", 128, d.below(2))


def product32(d):
    return _pairs(d, "H", 128, 0)


def quotient32(d):
    x, w, out, p = _pairs(d, "H", 128, 0)
    for i in range(0, 96, 3):
        w[i] >>= d.below(31)
    if d.below(2):
        x[d.below(96)] = w[d.below(96)] = -(1 << 31)
    return x, w, out, p[:9] + [d.below(3) + 4 * d.below(2)]


def larger32(d):
    return _pairs(d, "i", 64, d.below(2))


def compare32(d):
    return _pairs(d, "B", 64, d.below(8))


def truth8(d):
    _, _, _, p = place(d, "B", d.below(8))
    x, w = d.octets(96), d.octets(96)
    for i in range(96):
        x[i] &= 1
        w[i] &= 1 + (d.below(4) == 0)
    return x, w, bytearray(64), p


def not8(d):
    x = d.octets(40)
    for i in range(0, 40, 2):
        x[i] &= 1
    lo = d.below(5)
    return x, x, bytearray(40), [lo, lo + d.below(35)]


def one_hot32(d):
    outer, depth, inner = d.between(1, 3), d.between(1, 4), d.between(1, 3)
    lo = d.below(outer * depth)
    x = array("i", [d.between(-depth, depth) for _ in range(outer * inner)])
    p = [lo, d.between(lo, outer * depth), depth, inner]
    return x, d.words(2), d.blank("i", outer * depth * inner), p
