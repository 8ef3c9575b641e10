"""Random calls of loops/pool: see on_board_loops."""

from array import array

_BIAS = 1 << 29
_MINUS_INF = -8388608


def _params(d, least):
    """(items of x, p)"""
    image, taps = [d.between(1, 3), d.between(1, 6), d.between(1, 6)], [d.between(1, 3)] * 3
    taps[d.below(3)] = d.between(1, 3)
    first = d.below(5)
    dilations = [d.between(1, 2) for _ in image]
    corner = [_BIAS + d.between(-2, 3), _BIAS + d.between(-2, 5), _BIAS + d.below(4)]
    columns = [d.below(2), d.between(2, 6)]
    strides = [d.between(1, 40) for _ in image] + [d.below(1000)]
    nelem = first + image[0] * image[1] * image[2]
    p = [first] + image + taps + dilations + corner + [d.between(1, 3), least] + columns
    return nelem, p + [d.below(3)] + strides


def max_row32(d):
    n, p = _params(d, _MINUS_INF)
    x = d.words(n)
    return x, x, d.blank("i", 10), p


def max_row8(d):
    n, p = _params(d, d.below(2) * 128)
    x = d.octets(n)
    return x, x, d.blank("B", 10), p


def find_row32(d):
    n, p = _params(d, _MINUS_INF)
    x = d.words(n)
    largest = array("i", [x[d.below(n)] for _ in range(10)])
    return x, largest, d.blank("i", 20), p


def find_row8(d):
    n, p = _params(d, 0)
    x = d.octets(n)
    largest = bytearray([x[d.below(n)] for _ in range(10)])
    return x, largest, d.blank("i", 20), p
