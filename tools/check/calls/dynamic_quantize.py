"""Random calls of loops/dynamic_quantize: see on_board_loops."""

import struct
from array import array


def _p(d):
    return [0, d.between(1, 40), 0x7FFFFFFF, 0x7F800000]


def ends(d):
    x = d.words(40)
    return x, x, d.blank("i", 2), _p(d)


def choose(d):
    x = array("i", [d.word() & 0x7FFFFFFF, d.word() & 0x7FFFFFFF])
    if d.below(2):
        x[0] = (x[1] + d.between(-(9 << 23), 9 << 23)) & 0x7FFFFFFF
    for i in range(2):
        x[i] = min(x[i], 0x7F800000) if d.below(9) else 0
    at = d.below(3)
    return x, bytearray(1), d.blank("i", at + 4), _p(d) + [at]


def to_bytes(d):
    """w[0] and w[2] need each other, a scale and its inverse: the kernel makes both."""
    scale = (d.word() & 0x7FFFFF) | d.between(115, 135) << 23  # 2**-12 to 2**8
    number = struct.unpack("<f", struct.pack("<i", scale))[0]
    inverse = struct.unpack("<i", struct.pack("<f", 1.0 / number))[0]
    p = _p(d) + [d.below(3)]
    p[0] = d.below(p[1])
    return d.words(40), array("i", [scale, d.below(256), inverse]), d.blank("B", 45), p
