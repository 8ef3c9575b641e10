"""Random calls of loops/thresholds: see on_board_loops."""

from array import array

_BIAS = 1 << 29


def thresholds(d):
    scale = array("i", [d.between(27, 227) << 23 | d.word() & 0x7FFFFF])
    return scale, scale, d.blank("i", 256), [_BIAS + 1 - d.below(256), 255]
