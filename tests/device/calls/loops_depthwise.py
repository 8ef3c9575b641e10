"""Random calls of loops_depthwise: see loop_forms."""

from .loops_qdot import channel_words

_BIAS = 1 << 29


def depthwise8(d):
    n, m, kh, kw = d.between(1, 3), d.between(1, 2), d.between(1, 4), d.between(1, 4)
    oh, ow, dy, dx = d.between(1, 3), d.between(1, 4), d.between(1, 2), d.between(1, 2)
    sy, sx = d.between(1, 2), d.between(1, 2)
    if d.below(2):
        kh = kw = 3
        dx = 1
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
    low = d.between(-128, 255)
    p += [out_first, stride, 1, d.below(256), _BIAS + d.between(-128, 255)]
    return x, w, out, p + [_BIAS + low, _BIAS + low + d.below(300)]
