"""Random calls of loops/fourier: see on_board_loops."""

from array import array

_BIAS = 1 << 29
_UNIT = 1 << 28


def _line(d, op):
    """n, inner, outer, parts, length, line"""
    n, inner, outer = d.between(1, 9), d.between(1, 3), d.between(1, 2)
    parts = 1 if op == 1 else d.between(1, 2)
    return n, inner, outer, parts, d.between(1, 12), d.below(outer * inner)


def _parts(d, n):
    """Of numbers of at most 27 bits and a sign."""
    bits = d.below(20)
    return array("i", [_BIAS + (d.word() >> 4 + bits) for _ in range(n)])


def load32(d):
    op = d.below(3)
    n, inner, outer, parts, length, line = _line(d, op)
    x = d.words(outer * n * inner * parts)
    p = [line, 0, op, n, inner, parts, length, n, 0, 0, 0, 0]
    return x, x, d.blank("i", 4 * length), p


def transform32(d):
    length = (1, 2, 3, 4, 6, 8, 9, 12, 16, 20, 21, 32)[d.below(12)]
    work = _parts(d, 4 * length)
    table = array("i", [_BIAS + (d.word() >> 4) for _ in range(2 * length)])
    table[0], table[1] = _BIAS + _UNIT, _BIAS
    p = [0, 0, d.below(3), 1, 1, 2, length, length, d.between(1, 254), 0, 0, 0]
    return table, table, work, p


def store32(d):
    op = d.below(3)
    _, inner, outer, _, length, line = _line(d, op)
    n, parts = d.between(1, length), 1 if op == 2 else 2
    out = d.blank("i", outer * n * inner * parts)
    factor = _UNIT - (d.word() & 0x7FFFFFF) if d.below(2) else 0
    exponent, nan = d.between(1, 270), d.below(4) == 0
    p = [line, 2 * length * d.below(2), op, 1, inner, 1, length, n]
    work = _parts(d, 4 * length)
    return work, work, out, p + [exponent, int(nan), factor, d.below(10)]
