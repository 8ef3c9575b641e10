"""Random calls of loops/gated: see on_board_loops."""

from array import array

_SIGMOID = (1 << 28, 1 << 23, 300 << 16 | 32768)


def _table(d):
    """Three words an interval, as the converter writes them but for what they are worth."""
    words = []
    for _ in range(117):
        words += [_SIGMOID[0] + d.below(4096) * 65535, d.below(4000) * 2000 + d.below(1000)]
        words.append(d.below(4000) << 16 | d.below(1 << 12) << 4 | d.below(16))
    return array("i", words)


def _bits(d, n):
    return [d.below(4096) << 12 | d.below(4096) for _ in range(n)]


def _mantissas(d, n):
    """An exponent, and so many of them."""
    signs = [1 - 2 * d.below(2) for _ in range(n)]
    return [v * sign // 2 for v, sign in zip(_bits(d, n), signs)]


def _exponent(d):
    return d.between(100, 160) if d.below(9) else d.between(1, 254)


def _argument(d):
    v = d.word()
    return v if v > -0x7FFFFFFF else 0


def _arguments(d, n):
    """Some are about 1, some are small, some are anything."""
    found = [_argument(d) >> (d.below(2) * 4) for _ in range(n)]
    return [v if d.below(9) else v >> 9 for v in found]


def _state(d):
    """A float that is finite."""
    v = d.word()
    return v if v >> 23 & 255 < 255 else 1 << 29


def row(d):
    n, first, at, more = d.between(1, 20), d.below(4), d.below(4), d.below(4)
    x = d.words(first + n + more)
    if d.below(3):
        x = array("i", [v & -0x40000001 for v in x])
    return x, x, d.blank("i", at + n + 2), [first, n, at, more]


def _weights(d, rows, n_x, n_h):
    w = []
    for _ in range(rows):
        e = _exponent(d)
        low = d.below(4096) << 12 | d.below(4096) | (e - 256 if e > 127 else e) << 24
        high = d.between(-500, 500) if d.below(5) else (d.word() >> 3)
        w += [low, (1 << 29) + high] + _mantissas(d, n_x)
        if n_h:
            w += [_exponent(d)] + _mantissas(d, n_h)
    return w


def sums(d):
    kind, rows, at, first = d.below(4), d.between(1, 4), d.below(4), d.below(4)
    n_x = d.between(1, 30) if kind != 1 else 0
    n_h = d.between(1, 30) if kind != 2 else 0
    if d.below(9) == 0:
        n_x = n_x and d.between(100, 260)
    x = [0] * first + [_exponent(d)] + _mantissas(d, n_x) + [_exponent(d)] + _mantissas(d, n_h)
    w = array("i", [0] * first + _weights(d, rows, n_x, n_h))
    is_argument = d.below(2)
    out = d.blank("i", at + 2 * rows + 1)
    p = [first, n_x, first + 1 + n_x, n_h, first, rows, at, is_argument]
    return array("i", x), w, out, p


def small_sums(d):
    n_x, n_h, rows, at = d.between(1, 9), d.between(1, 9), d.between(1, 4), d.below(4)
    if d.below(9) == 0:
        n_x = d.between(110, 120)
    x = [_exponent(d)] + _mantissas(d, n_x) + [_exponent(d)] + _mantissas(d, n_h)
    w = array("i", _weights(d, rows, n_x, n_h) + [_state(d) for _ in range(rows)])
    out = [77] * at + [_argument(d) >> 9 * d.below(2) for _ in range(rows)] + [77] * (rows + 1)
    return array("i", x), w, array("i", out), [0, n_x, 1 + n_x, n_h, 0, rows, at, d.below(2)]


def lstm(d):
    n, at = d.between(1, 5), d.below(4)
    out = [77] * at + _arguments(d, 4 * n) + [_state(d) for _ in range(2 * n)] + [77]
    out = array("i", out)
    return out, _table(d), out, [at, n, at + 4 * n, at + 5 * n]


def rnn(d):
    n, at = d.between(1, 5), d.below(4)
    small = [d.below(4096) << 19 | d.below(4096) for _ in range(n)]
    small = [v if v < 123 << 23 else v - (30 << 23) for v in small]
    out = [77] * at + [_argument(d) >> 9 * d.below(2) for _ in range(n)] + small + [77] * (n + 1)
    out = array("i", out)
    return out, _table(d), out, [at, n, at + 2 * n, 0]


def relu(d):
    n, at = d.between(1, 5), d.below(4)
    out = array("i", [77] * (at + n) + [_state(d) for _ in range(n)] + [77] * (n + 1))
    return out, out, out, [at, n, at + 2 * n, 0]


def reset(d):
    n, first, at = d.between(1, 5), d.below(4), d.below(4)
    x, out = array("i", _arguments(d, first + n)), [77] * at + _mantissas(d, n) + [77]
    return x, _table(d), array("i", out), [first, n, at]


def reset_sums(d):
    n, at = d.between(1, 5), d.below(4)
    out = [77] * at + _arguments(d, n)
    for _ in range(2 * n):
        high = d.between(-500, 500) if d.below(5) else (d.word() >> 2)
        out += [d.below(4096) << 12 | d.below(4096), (1 << 30) + high]
    out = array("i", out + [77])
    return out, _table(d), out, [at, n, 0]


def renew(d):
    n, at = d.between(1, 5), d.below(4)
    out = [77] * at + _arguments(d, 3 * n) + [_state(d) for _ in range(n)] + [77]
    out = array("i", out)
    return out, _table(d), out, [at, n, at + 3 * n]


def put(d):
    n, first, at = d.between(0, 9), d.below(4), d.below(4)
    x = d.words(first + n + 1)
    return x, x, d.blank("i", at + n + 1), [first, n, at]
