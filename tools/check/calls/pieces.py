"""Random calls of loops/pieces: see on_board_loops."""

from array import array

_BIAS = 1 << 29


def _numbers(d, n):
    return [d.between(1, 40) for _ in range(n)]


def locate(d):
    positions, piece, groups = d.between(1, 50), d.between(1, 9), d.between(1, 4)
    pieces = -(-positions // piece)
    x = [d.below(2 * groups * pieces), pieces, piece, positions, groups] + _numbers(d, 8)
    return array("i", x), array("i", x), array("i", _numbers(d, 24)), _numbers(d, 12)


def locate_planes(d):
    planes, by, rows, of = d.between(1, 9), d.between(1, 4), d.between(1, 9), d.between(1, 4)
    by_rows = -(-rows // of)
    per_batch = by_rows * -(-planes // by)
    x = [d.below(2 * per_batch), per_batch, by_rows, by, planes, of, rows] + _numbers(d, 5)
    x += [_BIAS - d.below(5), d.below(100), d.below(100)]
    return array("i", x), array("i", x), array("i", _numbers(d, 14)), _numbers(d, 21)


def zero_point(d):
    x = d.octets(1)
    return x, x, array("i", _numbers(d, 24)), _numbers(d, 12)
