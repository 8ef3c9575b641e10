"""Random calls of loops/maxima: see on_board_loops."""

_BIAS = 1 << 29


def maxima8(d):
    planes, h, width = d.between(1, 3), d.between(1, 6), d.between(1, 6)
    kernel, strides = [d.between(1, 4) for _ in "yx"], [d.between(1, 3) for _ in "yx"]
    oh, ow = d.between(1, 5), d.between(1, 5)
    first, out_first = d.below(4), d.below(4)
    x = d.octets(first + planes * h * width)
    out = d.blank("B", out_first + planes * oh * ow + 1)
    p = [first, out_first, planes, h, width] + kernel + strides
    return x, x, out, p + [_BIAS + d.between(-2, 4) for _ in "yx"] + [oh, ow, d.below(2) * 128]
