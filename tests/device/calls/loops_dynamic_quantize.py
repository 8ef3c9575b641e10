"""Random calls of loops_dynamic_quantize: see loop_forms."""

import struct
from array import array


def _p(d):
    return [0, d.between(1, 40), 0x7FFFFFFF, 0x7F800000, d.below(256)]


def ends(d):
    x = d.words(40)
    return x, x, d.blank("i", 2), _p(d)


def to_bytes(d):
    """w[0] and w[2] belong together, a scale and its inverse: the kernel makes both."""
    scale = (d.word() & 0x7FFFFF) | d.between(115, 135) << 23  # 2**-12 to 2**8
    number = struct.unpack("<f", struct.pack("<i", scale))[0]
    inverse = struct.unpack("<i", struct.pack("<f", 1.0 / number))[0]
    return d.words(40), array("i", [scale, 0, inverse]), d.blank("B", 42), _p(d)
