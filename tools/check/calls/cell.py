"""Random calls of loops/cell: see on_board_loops."""

from array import array

_NO_SIGN = 0x7FFFFFFF
_ONE = 1 << 26


def _gates(d, n):
    return [d.between(0, _ONE) if d.below(9) else _ONE for _ in range(n)]


def squash(d):
    n, first, at = d.between(1, 9), d.below(4), d.below(4)
    return d.words(20), d.words(4), d.blank("i", at + n + 1), [first, n, at, d.below(n + 1)]


def state(d):
    n, first, at = d.between(1, 5), d.below(4), d.below(4)
    x = array("i", _gates(d, first + 3 * n) + [d.between(-_ONE, _ONE) for _ in range(n)])
    return x, x, d.words(at + n + 1), [first, n, at, _NO_SIGN]


def product(d):
    n, first, at = d.between(1, 9), d.below(4), d.below(4)
    w = array("i", [d.between(-_ONE, _ONE) for _ in range(n)])
    return array("i", _gates(d, first + n)), w, d.blank("i", at + n + 1), [first, n, at, _NO_SIGN]
