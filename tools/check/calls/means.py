"""Random calls of loops/means (see draw.py).

A list has windows, and words that pack their sizes.
"""

from array import array


def _block(d):
    planes, kh, kw = d.between(1, 2), d.between(1, 3), d.between(1, 3)
    h, w, oh, ow = d.between(kh, 5), d.between(kw, 5), d.between(1, 3), d.between(1, 3)
    order = d.below(3)
    if order == 2:
        kh, kw, oh, ow = h, w, 1, 1
    pads = [0, 0] if order == 2 else [d.below(kh), d.below(kw)]
    strides = [d.between(1, 3), d.between(1, 3)]
    oh = min(oh, -(-(h + pads[0]) // strides[0]))
    ow = min(ow, -(-(w + pads[1]) // strides[1]))
    count = (0, 0, kh * kw, 7)[d.below(4)]
    nbytes = d.between(1, 2)
    sign = 128 if nbytes == 1 else 32768
    p = [0, d.below(3), planes, h, w, kh, kw] + strides + pads
    p += [oh, ow, count, order, d.below(2 * sign), sign * d.below(2), 0, 0]
    p += [d.below(4), d.between(1, 4), d.below(planes * oh * ow), d.below(9)]
    p += [d.between(2048, 4095), d.below(4096), d.between(80, 170)]
    p += [d.between(1 << 23, (1 << 24) - 1), d.between(80, 170), d.below(2 * sign)]
    return p + [nbytes, 2 * sign - 1]


def _words(d, p):
    """Draw the list of windows, and sums or means."""
    windows = [d.below(p[2] * p[11] * p[12]) for _ in range(64)]
    mantissas = [0 if d.below(9) == 0 else d.between(1 << 23, 1 << 24) for _ in range(64)]
    rest = [d.between(1, 64) << 10 | d.between(2 * 78, 2 * 172) for _ in range(64)]
    return array("i", windows + mantissas + rest)


def choose(d):
    p = _block(d)
    p[29], p[15], p[16], p[28] = 1, p[15] & 255, p[16] & 128, p[28] & 255
    out = d.blank("B", p[2] * p[11] * p[12] + 3)
    return d.octets(p[2] * p[3] * p[4]), _words(d, p), out, p


def spans(d):
    p = _block(d)
    words = _words(d, p)
    return words, words, words[:], p


def sums(d):
    p = _block(d)
    words = _words(d, p)
    for i in range(64):
        lines, length = (4, p[3] * p[4] // 4) if p[14] == 2 else (p[3], p[4])
        if p[14] == 1:
            lines, length = length, lines
        words[64 + i] = 0
        words[128 + i] = (lines << 13 | length) << 2 | (p[3] * p[4] & 3)
    return d.octets(p[29] * p[2] * p[3] * p[4]), words, words[:], p


def means(d):
    p = _block(d)
    words = _words(d, p)
    return words, words, words[:], p
