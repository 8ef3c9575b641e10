"""Random calls of loops/dynamic_quantize (see draw.py): to_bytes takes a scale and its inverse."""

import struct
from array import array


def to_bytes(d):
    scale = (d.word() & (0 if d.below(2) else 0x7FFFFF)) | d.between(115, 135) << 23
    number = struct.unpack("<f", struct.pack("<i", scale))[0]
    inverse = struct.unpack("<i", struct.pack("<f", 1.0 / number))[0]
    end = d.between(1, 40)
    p = [d.below(end), end, 0x7FFFFFFF, 0x7F800000, d.below(3)]
    x = d.words(40)
    if d.below(2):  # quotients in the middle between two bytes, or near it
        for i in range(40):
            x[i] = (scale + (d.between(-1, 7) << 23) & -0x100000) + d.between(-1, 1)
    return x, array("i", [scale, d.below(256), inverse]), d.blank("B", 45), p
