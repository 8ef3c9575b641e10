"""Random calls of loops/moments: see on_board_loops."""

from array import array

_BIAS = 1 << 29


def _floats(d):
    """Often of one size, and finite."""
    if d.below(3) == 0:
        return d.words(24)
    size = d.between(1, 250) << 23
    words = [(size + (d.word() & 0x1FFFFFF)) % 0x7F800000 for _ in range(24)]
    return array("i", [v - (1 << 31) if d.below(2) else v for v in words])


def _row(d):
    return [d.below(8), d.between(1, 16), d.below(2), 0x3727C5AC if d.below(3) else 0]


def centre(d):
    x = _floats(d)
    return x, x, d.blank("i", 24), _row(d) + [0] * 4


def squares(d):
    s, mean = d.below(24), d.word() & (1 << 30) - 1
    x = [mean + ((d.word() & (1 << 29) - 1) >> s) * (1 - 2 * d.below(2)) for _ in range(24)]
    x = array("i", [min(max(v, 0), 1 << 30) for v in x])
    rest = (d.word() & (1 << 28) - 1) if s else 0
    return x, x, d.blank("i", 24), _row(d) + [d.between(1, 254), mean, rest, s, 0, 0, 0]


def inverse(d):
    limbs = [d.below(1 << 12) << d.below(4), d.word() & 0xFFFFFF, d.word() & 0xFFFFFF]
    empty = d.below(4)
    limbs = [0 if i < empty else v for i, v in enumerate(limbs)]
    p = _row(d) + [d.between(1, 254), 0, 0, d.below(24)] + limbs
    return d.words(4), d.words(4), d.blank("i", 4), p + [0, 0]


def scaled(d):
    x = array("i", [2 * _BIAS + (d.word() >> 2 + d.below(12)) for _ in range(24)])
    factor = _BIAS + (d.word() & _BIAS - 1) if d.below(9) else 0
    p = _row(d) + [0] * 7 + [factor, 1024 + d.between(0, 300) - 40]
    return x, x, d.blank("i", 24), p
