"""Random calls of loops/short_dot: see on_board_loops."""

from array import array


def _mantissas(d, code, n, first):
    """15 bits each from `first` on; at times all that there can be, so that sums wrap around."""
    kind = d.below(16)
    if kind < 2:
        return array(code, [0x7FFF * kind + first] * n)
    return array(code, [(v & 0x7FFF) + first for v in d.words(n)])


def dots(d):
    rows, k, m = d.between(1, 4), d.below(d.between(1, 150)), d.between(1, d.between(1, 10))
    first, w_first, step, at = d.below(4), 2 * d.below(3), d.below(k + 3), d.below(4)
    x = _mantissas(d, "i", first + rows * step + k + 1, 0 - (1 << 14))
    w = _mantissas(d, "H", w_first + m * (k + 1) + 2, 0)
    out = d.blank("i", at + rows * m)
    return x, w, out, [first, rows, step, k, w_first, m, at]
