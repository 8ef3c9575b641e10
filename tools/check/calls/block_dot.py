"""Random calls of loops/block_dot: see on_board_loops."""

from array import array


def _mantissas(d, n, sign):
    """24 bits each; at times all that there can be, so that sums grow. sign: 2**23 or 0."""
    kind = d.below(16)
    if kind < 2:
        return array("i", [0xFFFFFF * kind - sign] * n)
    return array("i", [(v & 0xFFFFFF) - sign for v in d.words(n)])


def dots(d):
    rows, k, m = d.between(1, 4), d.below(d.between(1, 250)), d.between(1, 6)
    first, w_first, step, at = d.below(4), d.below(4), d.below(k + 3), d.below(4)
    x = _mantissas(d, first + rows * step + k + 1, 1 << 23)
    w = _mantissas(d, w_first + m * k + 1, 0)
    out = d.blank("i", at + rows * 3 * (m + 1))
    return x, w, out, [first, rows, step, k, w_first, m, at]
