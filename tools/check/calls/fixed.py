"""Random calls of loops/fixed: see on_board_loops."""

from array import array

_ONE = 1 << 30
_OF_CHOOSE = [0, 0, 0x7FFFFFFF, 0x7F800000, 0]  # with which the blocks of three loops begin


def _floats(d, n):
    """Of exponents that are not far apart."""
    base = d.between(40, 200)
    words = [d.below(1 << 23) | (base + d.below(12)) << 23 for _ in range(n)]
    words = [v if d.below(9) else 0 for v in words]
    return array("i", [v - (1 << 31) if d.below(2) else v for v in words])


def _factors(d, n):
    words = []
    for _ in range(n):
        words.append((1 << 24) + d.between(-(1 << 23), 1 << 23))
        words.append(_ONE + d.between(-(1 << 27), 1 << 27))
    return words


def _items(d, n):
    size = 1 + d.below(28)
    return array("i", [_ONE + d.between(-(1 << size), 1 << size) for _ in range(n)])


def channels(d):
    n = d.between(1, 6)
    steps = [d.below(2), d.below(2)]
    p = _OF_CHOOSE + [0] * 6 + [n, 0, d.between(1, 31), 0] + steps
    return _floats(d, n), _floats(d, n), d.blank("i", 2 * n + 1), p


def gates(d):
    n, eighths, bits, lo = d.between(1, 5), d.between(1, 20), d.between(4, 29), d.below(9)
    hi = lo + d.below(12)
    x = array("i", [d.between(-(1 << bits), 1 << bits) for _ in range(hi)])
    w = _factors(d, n)
    for _ in range(eighths):
        w += [_ONE + d.between(-99, 99), _ONE + d.between(-4000, 4000), d.below(100000)]
        w.append((1 << 20) + d.below((1 << 20) - 110000))
    p = _OF_CHOOSE + [1024 - d.between(12, 32), 0, 0, 0]
    p += [lo, hi, n, d.below(n), bits, eighths]
    return x, array("i", w), d.blank("i", hi + 1), p


def norms(d):
    first, n = d.below(8), d.between(1, 16)
    x = array("i", [_ONE + (d.word() >> 2 + d.below(12)) for _ in range(24)])
    root = (1 << 29) + d.below(1 << 29) if d.below(9) else 0
    point = d.between(20, 29)
    exponent = 2204 - 1024 - point - d.between(0, 12)
    p = [first, n, 1, 0, 255 if d.below(9) == 0 else 130, 0, 0, 0, 0, 0, 0, root, exponent]
    p += [0, 0, _ONE, _ONE, 1024 + point]
    return x, array("i", _factors(d, n)), d.blank("i", 24), p


def ends(d):
    x = [1024 + d.between(-200, 160), 1]
    x += [_ONE + d.below(1 << d.between(1, 29)), _ONE - d.below(1 << d.between(1, 29))]
    if d.below(9) == 0:  # of a damaged model, whose elements overflow
        x[2] = d.below(_ONE)
    return array("i", x), d.words(2), d.blank("i", 3), [0]


def octets(d):
    n, x = d.below(24), _items(d, 24)
    scale = d.between(110, 140)
    inverse = d.below(1 << 23) | scale << 23
    unit = 1024 + 126 - scale - d.between(14, 28)
    return x, array("i", [0, d.below(256), inverse]), d.blank("B", 25), _OF_CHOOSE + [unit, n]
