"""Random calls of loops/depthwise (see draw.py).

A table of bytes holds words with shifts and multipliers.
"""

from .qdot import channel_words, limits_of_out


def depthwise8(d):
    return _call(d, d.between(1, 4), d.between(1, 4), d.between(1, 2))


def depthwise33(d):
    return _call(d, 3, 3, 1)


def depthwise_dense(d):
    kw = d.between(2, 7)
    return _call(d, kw if d.below(2) else d.between(1, 7), kw + d.below(2), 1)


def _call(d, kh, kw, dx):
    n, m, oh, ow = d.between(1, 3), d.between(1, 2), d.between(1, 3), d.between(1, 4)
    sy, sx, dy = d.between(1, 2), d.between(1, 2), d.between(1, 2)
    row = (ow - 1) * sx + (kw - 1) * dx + 1
    plane = ((oh - 1) * sy + (kh - 1) * dy + 1) * row
    first = 4 * kh * kw
    x = bytearray(first) + d.octets(n * plane)
    table = 4 * d.below(3)
    w = bytearray(table) + channel_words(d, n * m)
    w_first = len(w) + d.below(4)
    w += d.octets(w_first - len(w) + n * m * kh * kw)
    out_first, stride = d.below(3), oh * ow + d.below(3)
    out = d.blank("B", out_first + n * m * stride + 1)
    p = [first, plane, n, m, kh, kw, dy * row, dx, oh, ow, sy * row, sx, table, w_first]
    p += [out_first, stride, 1, d.below(256)] + limits_of_out(d)
    if d.below(2):
        return x, w, out, p + [0]
    x += d.octets(-len(x) & 3) + w[table : table + 8 * n * m]
    p[12] = len(x) - 8 * n * m
    return x, w, out, p + [1]
