"""Random calls of loops/dequantize: see on_board_loops."""

from array import array


def dequantize8(d):
    lo = d.below(8)
    scale = d.between(27, 227) << 23 | d.word() & 0x7FFFFF
    p = [lo, lo + d.below(33), d.below(256), 128 * d.below(2)]
    return d.octets(42), array("i", [scale]), d.blank("i", 42), p
