"""Random calls of loops_means: see loop_forms."""

from array import array


def _call(d):
    planes, kh, kw = d.between(1, 2), d.between(1, 3), d.between(1, 3)
    h, w, oh, ow = d.between(kh, 5), d.between(kw, 5), d.between(1, 3), d.between(1, 3)
    pads = [d.below(kh), d.below(kw)]
    strides = [d.between(1, 3), d.between(1, 3)]
    oh = min(oh, -(-(h + pads[0]) // strides[0]))
    ow = min(ow, -(-(w + pads[1]) // strides[1]))
    below = d.below(256)
    least = d.between(80, 140) << 23
    floats = [0] + sorted([least + (d.word() & 0x1FFFFFF) for _ in range(255)])
    levels = sorted([least - (8 << 23) + (d.word() & 0x5FFFFFF) for _ in range(255)])
    words = array("i", floats + levels[:below][::-1] + levels[below:])
    count = (0, 0, kh * kw, 7)[d.below(4)]
    p = [0, d.below(3), planes, h, w, kh, kw] + strides + pads
    p += [oh, ow, count, d.below(2), d.below(256), 128 * d.below(2), below, 128 * d.below(2)]
    words += array("i", [d.below(planes * oh * ow) for _ in range(64)])
    words += array("i", [least + (d.word() & 0x1FFFFFF) for _ in range(64)])
    p += [d.below(4), d.between(1, 4), d.below(planes * oh * ow), d.below(9)]
    return d.octets(planes * h * w), words, p, planes * oh * ow


def choose(d):
    x, words, p, _ = _call(d)
    return x, words, words[:], p


def means(d):
    x, words, p, _ = _call(d)
    return x, words, words[:], p


def bytes_of(d):
    _, words, p, n = _call(d)
    return words, words, d.blank("B", n // 2 + 5), p
