"""Random calls of loops_block_narrow: see loop_forms."""

from array import array

_MOST = {"H": 0xFFFF, "B": 0xFF}


def _call(d, code, per):
    """per: items of a row of weights by its length."""
    rows, k, m = d.between(1, 4), d.below(70), d.between(1, 6)
    first, w_first, step, at = d.below(4), d.below(4), d.below(k + 3), d.below(4)
    kind, most = d.below(16), _MOST[code]
    x = [(v & 0xFFFFFF) - (1 << 23) for v in d.words(first + rows * step + k + 1)]
    w = [v & most for v in d.words(w_first + m * per(k) + 1)]
    if kind < 2:  # all that there can be, so that sums grow
        x, w = [0xFFFFFF * kind - (1 << 23)] * len(x), [most] * len(w)
    out = d.blank("i", at + rows * 3 * (m + 1))
    return array("i", x), array(code, w), out, [first, rows, step, k, w_first, m, at]


def dots16(d):
    return _call(d, "H", lambda k: k)


def dots8(d):
    return _call(d, "B", lambda k: k)


def dots4(d):
    return _call(d, "B", lambda k: (k + 1) // 2)
