"""Random calls of loops/wide: see on_board_loops."""

from array import array

_BIAS = 1 << 29
_FLIP = 32768


def items(d, n):
    return array("H", [d.word() & 65535 for _ in range(n)])


def limits(d):
    low = d.between(-32768, 30000)
    return [_BIAS + d.between(-32768, 32767), _BIAS + low, _BIAS + low + d.below(35000)]


def wide_patches(d):
    c, kh, kw, h, w = [d.between(1, 3) for _ in range(3)] + [d.between(1, 6), d.between(1, 6)]
    dy, dx, sy, sx = [d.between(1, 2) for _ in range(4)]
    ow, n = d.between(1, 4), d.between(1, 5)
    p = [
        0,
        c,
        kh,
        kw,
        h * w,
        dy * w,
        dx,
        h,
        w,
        dy,
        dx,
        sy,
        sx,
        w,
        1,
        ow,
        d.below(3),
        d.below(3 * ow),
    ]
    p += [_FLIP * d.below(2), d.word() & 65535, n, 0]
    p += [_BIAS - d.below(3), _BIAS - d.below(3)]
    x = items(d, c * h * w)
    return x, x, d.blank("H", n * (2 + c * kh * kw) + 1), p


def wide_add(d):
    lo, n = d.below(4), d.below(20)
    factors = [_BIAS + d.between(-(1 << 28), 1 << 28) for _ in range(2)]
    p = [lo, lo + n] + factors + [_FLIP * d.below(2), d.between(1, 13)]
    p += [d.word() & 65535, d.word() & 65535] + limits(d)
    return items(d, 25), items(d, 25), d.blank("H", 26), p


def wide_mul(d):
    lo, f = d.below(4), d.below(62)
    half = 1 << min(f - 33, 28) if f > 32 else 0
    p = [lo, lo + d.below(20), f] + limits(d) + [half, _FLIP * d.below(2)]
    return items(d, 25), items(d, 25), d.blank("H", 26), p + [d.between(2048, 4095), d.below(4096)]


def _scale(d):
    return array("i", [d.between(27, 227) << 23 | d.word() & 0x7FFFFF])


def wide_quantize(d):
    lo = d.below(8)
    p = [lo, lo + d.below(33), 0, 0x7FFFFFFF, 0x7F800000] + limits(d)
    return d.words(42), _scale(d), d.blank("H", 42), p


def wide_dequantize(d):
    lo = d.below(8)
    p = [lo, lo + d.below(33), d.word() & 65535, _FLIP * d.below(2)]
    return items(d, 42), _scale(d), d.blank("i", 42), p


def wide_max(d):
    planes, h, w, oh, ow = [d.between(1, n) for n in (2, 6, 6, 4, 4)]
    p = [planes, h, w, d.between(1, 3), d.between(1, 3), oh, ow]
    p += [d.between(1, 3) for _ in range(4)] + [_FLIP * d.below(2)]
    p += [_BIAS + d.between(-2, 3), _BIAS + d.between(-2, 3)]
    x = items(d, planes * h * w)
    return x, x, d.blank("H", planes * oh * ow + 1), p
