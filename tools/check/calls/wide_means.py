"""Random calls of loops/wide_means (see draw.py): windows lie within x in both directions."""

from array import array


def choose_wide(d):
    planes, kh, kw = d.between(1, 2), d.between(1, 3), d.between(1, 3)
    h, w, oh, ow = d.between(kh, 5), d.between(kw, 5), d.between(1, 3), d.between(1, 3)
    pads, strides = [d.below(kh), d.below(kw)], [d.between(1, 3), d.between(1, 3)]
    oh = min(oh, -(-(h + pads[0]) // strides[0]))
    ow = min(ow, -(-(w + pads[1]) // strides[1]))
    p = [0, d.below(3), planes, h, w, kh, kw] + strides + pads
    p += [oh, ow, d.between(1, kh * kw), 0, d.below(65536), 32768 * d.below(2), d.below(9), 0]
    p += [d.between(1, 4), d.between(1, 4), d.below(planes * oh * ow), 0, 0, 0, 0, 0, 0]
    p += [d.below(65536), 2, 65535]
    x = array("H", [d.word() & 65535 for _ in range(planes * h * w)])
    return x, d.blank("i", 192), d.blank("H", planes * oh * ow + 3), p
