"""Random calls of loops/short: see on_board_loops."""

from array import array

_HALF = 1 << 30
_MOST = _HALF - 64  # of a bias
_INF = 0x7F800000


def align(d):
    channels, bias, step = d.between(1, 6), d.below(2), d.between(1, 3)
    first, w_first, at = d.below(4), d.below(4), d.below(4)
    x, w = d.words(first + bias * channels + 1), d.octets(w_first + step * channels)
    out = d.blank("i", at + 3 * channels)
    return x, w, out, [first, bias, w_first, step, channels, at, d.between(1, 270)]


def _limits(d):
    """Sign and magnitude of the least and the greatest float."""
    kind = d.below(3)
    return ([1, _INF, 0, _INF], [0, 0, 0, _INF], [1, 0x3F800000, 0, 0x40C00000])[kind]


def _number(d, most):
    """Up to so much either way, often exactly, often little."""
    kind = d.below(8)
    if kind < 2:
        return (2 * kind - 1) * most
    v = d.word() >> d.below(31)
    return max(min(v, most), 0 - most)


def finish(d):
    positions, rows, m, more = d.between(1, 3), d.between(1, 2), d.between(1, 4), d.below(2)
    first, w_first, out_first = d.below(4), d.below(4), d.below(4)
    x, w = array("i", [0] * first), array("i", [0] * w_first)
    for _ in range((positions + more) * rows * m):
        x.append(_number(d, _HALF - 1) + _HALF)
    for _ in range(m):
        shift = d.below(32) * (d.below(4) == 0)
        w.extend(array("i", [shift, _number(d, _MOST) + _HALF, d.below(560)]))
    out = d.words(out_first + positions * rows * m)
    p = [first, positions, m, w_first, out_first, m, 1, positions * m, rows, more] + _limits(d)
    return x, w, out, p + [d.below(2)]
