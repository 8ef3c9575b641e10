"""Random calls of loops that have one form, FAMILY_LOOP; tests/device/calls has the others.

There are no forms of these to compare, so no board calls them.
"""

from array import array
from types import SimpleNamespace


def floats(d, n):
    return array("f", [d.between(-900, 900) / 64 for _ in range(n)])


def _axis(d, *more):
    """Items and parameters of a middle axis: lo, hi, n, inner."""
    outer, n, inner = d.between(1, 3), d.between(1, 40), d.between(1, 3)
    lo = d.below(outer * inner)
    p = [lo, d.between(lo, outer * inner), n, inner, *more]
    return outer, floats(d, outer * n * inner), p


def _reduced(d, w=(), *more):
    outer, x, p = _axis(d, *more)
    return x, w, d.blank("f", outer * p[3]), p


def _same_shape(d, w=(), *more):
    _, x, p = _axis(d, *more)
    return x, w, d.blank("f", len(x)), p


def _whole(call):
    x, w, out, p = call
    return array("i", [int(v) for v in x]), w, array("i", [0] * len(out)), p


def arg_reduce_arg_reduce(d):
    return _whole(_reduced(d, (), d.below(2), d.below(2)))


def average_average_row(d):
    nz, ny, kx, dx = d.between(1, 2), d.between(1, 3), d.between(1, 4), d.between(1, 2)
    depth, height, width = nz + d.below(2), ny + d.below(3), d.between(1, 7)
    stride, pad, ow = d.between(1, 3), d.below(3), d.between(1, 4)
    z, y, first = d.below(depth - nz + 1), d.below(height - ny + 1), d.below(3)
    p = [(z * height + y) * width, nz, ny, kx, height * width, width, dx, width, stride, pad]
    p += [d.below(2), d.below(2), d.below(3), nz * ny, ow, first]
    return floats(d, depth * height * width), (), d.blank("f", first + ow), p


def cumulate_cumulate_float(d):
    return _same_shape(d, (), d.below(2), d.below(2), d.below(2))


def cumulate_cumulate_int(d):
    return _whole(_same_shape(d, [128, 255], d.below(2), d.below(2), d.below(2)))


def deform_deformed_patch(d):
    c, h, width, kh, kw = [d.between(1, 4) for _ in range(5)]
    groups, a_group, batch = d.between(1, 3), d.between(1, 4), d.between(1, 2)
    oh, ow, first = d.between(1, 3), d.between(1, 3), d.below(5)
    plane, taps = oh * ow, kh * kw
    channel = d.below(max(groups * a_group - c, 0) + 1)
    groups = max(groups, -(-(channel + c) // a_group))
    masks = batch * groups * taps * plane
    w = SimpleNamespace(offset=floats(d, 2 * masks), mask=floats(d, masks) if d.below(2) else None)
    at = d.below(batch) * groups * taps * plane + d.below(plane)
    p = [first, channel, c, h, width, kh, kw, d.between(1, 2), d.between(1, 2)]
    p += [d.between(-2, 2), d.between(-2, 2), at, plane, a_group]
    return floats(d, first + c * h * width), w, d.blank("f", c * taps), p


def det_determinant(d):
    n, of = d.below(5), d.between(1, 3)
    p = [d.below(of), n]
    return floats(d, of * n * n), d.blank("f", n * n), d.blank("f", of), p


def _line(d, op):
    n, inner, outer = d.between(1, 9), d.between(1, 3), d.between(1, 2)
    length, parts = d.between(1, 12), 1 if op == 1 else d.between(1, 2)
    return n, inner, outer, length, parts, d.below(outer * inner)


def dft_load(d):
    op = d.below(3)
    n, inner, outer, length, parts, line = _line(d, op)
    x = floats(d, outer * n * inner * parts)
    return x, d.blank("f", 4 * length), (), [line, 0, op, n, inner, parts, length, n]


def dft_transform(d):
    length = d.between(1, 24)
    p = [0, 0, d.below(3), 1, 1, 2, length, length]
    return floats(d, 2 * length), floats(d, 4 * length), (), p


def dft_store(d):
    op = d.below(3)
    _, inner, outer, length, _, line = _line(d, op)
    n, parts = d.between(1, length), 1 if op == 2 else 2
    out = d.blank("f", outer * n * inner * parts)
    p = [line, 2 * length * d.below(2), op, 1, inner, 1, length, n]
    return (), floats(d, 4 * length), out, p


def dot_dots_f32(d):
    k, m, bias, stride = d.below(70), d.between(1, 4), d.below(2), d.between(1, 3)
    first, at, w_first = d.below(4), d.below(4), d.below(4)
    out = d.blank("f", at + (m - 1) * stride + 1)
    p = [first, k, at, stride, bias, w_first, m]
    return floats(d, first + k), floats(d, w_first + m * (k + bias)), out, p


def dot_dots_int(d):
    x, w, out, p = dot_dots_f32(d)
    x, w = [array("i", [int(v) for v in a]) for a in (x, w)]
    return x, w, array("i", [0] * len(out)), p + [1 << 31, (1 << 32) - 1]


def grid_sample_taps(d):
    """Numbers and lists by the names of its arguments."""
    modes = [d.below(3), d.below(3), d.below(2)]
    v = d.between(-300, 300) / 128
    return {"v": v, "d": d.between(1, 6), "modes": modes, "at": [0] * 4, "share": [0.0] * 4}


def grid_sample_weigh(d):
    n, channels, plane, places = d.below(9), d.between(1, 3), d.between(1, 20), d.between(1, 4)
    w = SimpleNamespace(flat=[d.below(plane) for _ in range(n)], weights=floats(d, n))
    first, at = d.below(4), d.below(places)
    x = floats(d, first + channels * plane)
    return x, w, d.blank("f", channels * places), [n, first, at, channels, plane, places]


def _regions(d):
    c, h, width, oh, ow = [d.between(1, 4) for _ in range(5)]
    first, at = d.below(4), d.below(4)
    p = [first, at, c, h, width, oh, ow]
    return floats(d, first + c * h * width), d.blank("f", at + c * oh * ow), p


def max_roi_max_bins(d):
    x, out, p = _regions(d)
    return x, [d.between(-2, 5) for _ in range(4)], out, p


def normalize_moments(d):
    first, n = d.below(4), d.below(70)
    return floats(d, first + n), (), [0.0, 0.0, 1e-5], [first, n, d.below(2), 0, 1]


def _normalized(d, arguments):
    width, groups, first, at = d.between(1, 5), d.between(1, 6), d.below(4), d.below(3)
    x = floats(d, first + width * groups)
    w = [[0.5, 2.0, 1e-5]] + [floats(d, at + groups) for _ in range(arguments)]
    return x, tuple(w), d.blank("f", len(x)), [first, width * groups, 1, at, width]


def normalize_plain(d):
    return _normalized(d, 0)


def normalize_scaled(d):
    return _normalized(d, 1)


def normalize_scaled_shifted(d):
    return _normalized(d, 2)


def offsets_offsets(d):
    rank, n, hi = d.between(1, 3), d.between(1, 3), d.between(1, 6)
    lo = d.below(hi)
    p = [lo, hi, 0, rank, n] + [d.between(1, 4) for _ in range(2 * rank + 2 * n)]
    x = array("i", [d.between(-6, 6) for _ in range(hi * n)])
    return x, (), d.blank("i", hi), p


def one_hot_one_hot(d):
    outer, depth, inner = d.between(1, 3), d.between(1, 4), d.between(1, 3)
    lo = d.below(outer * depth)
    x = array("i", [d.between(-depth, depth) for _ in range(outer * inner)])
    p = [lo, d.between(lo, outer * depth), depth, inner]
    return x, [0.0, 1.0], d.blank("f", outer * depth * inner), p


def _quantized(d):
    rows, n, first = d.between(1, 4), d.between(1, 6), d.below(3)
    places, sizes = [], []
    for _ in range(2):
        place = [d.below(4), d.below(6), d.below(3)]
        places += place
        sizes.append(place[0] + (rows - 1) * place[1] + (n - 1) * place[2] + 1)
    zeros = array("b", [d.between(-9, 9) for _ in range(sizes[1])]) if d.below(2) else None
    p = places + [first, rows, n]
    return floats(d, sizes[0]), (floats(d, sizes[1]), zeros), d.blank("f", first + rows * n), p


def quantize_quantize(d):
    x, w, out, p = _quantized(d)
    return x, (*w, -128, 127, array("f", [0.0])), array("b", bytes(len(out))), p


def quantize_dequantize(d):
    x, w, out, p = _quantized(d)
    return array("b", [int(v) for v in x]), w, out, p


def reduce_sum_float(d):
    return _reduced(d, (), d.below(4))


def reduce_sum_int(d):
    return _whole(_reduced(d, [128, 255, d.below(4), 0], d.below(3)))


def reduce_prod_float(d):
    return _reduced(d)


def reduce_prod_int(d):
    return _whole(_reduced(d, [128, 255]))


def reduce_largest(d):
    return _reduced(d, [-1e9])


def reduce_smallest(d):
    return _reduced(d, [1e9])


def reduce_log_sum_exp(d):
    return _reduced(d)


def resample_resample(d):
    outer, n_in, inner = d.between(1, 2), d.between(3, 6), d.between(1, 3)
    n_out, taps = d.between(1, 4), d.between(1, 3)
    lo = d.below(outer * n_out)
    p = [lo, d.between(lo, outer * n_out), n_in, inner, n_out, taps]
    w = array("f", [d.between(-1, 2) for _ in range(n_out * taps)])
    p += [d.below(n_in - taps + 1) for _ in range(n_out)]
    return floats(d, outer * n_in * inner), w, d.blank("f", outer * n_out * inner), p


def roi_align(d):
    x, out, p = _regions(d)
    w = [d.between(-12, 30) / 8 for _ in range(4)]
    return x, w, out, p + [d.between(1, 3), d.between(1, 3), d.below(2)]


def scatter_scatter(d):
    k, n, inner = d.between(1, 5), d.between(1, 5), d.between(1, 3)
    lo = d.below(k)
    w = ([d.between(-1, n) for _ in range(k)], *((128, 255) if d.below(2) else (0, 0)))
    p = [lo, d.between(lo, k), 0, n, inner, d.below(5)]
    x, out = [array("i", [d.between(-99, 99) for _ in range(m * inner)]) for m in (k, n)]
    return x, w, out, p


def softmax_softmax(d):
    return _same_shape(d)


def softmax_log_softmax(d):
    return _same_shape(d)


def softmax_hardmax(d):
    return _same_shape(d)


def top_k_top_k(d):
    outer, x, p = _axis(d)
    k = d.between(1, 4)
    n = outer * k * p[3]
    return x, d.blank("i", n), d.blank("f", n), [*p, k, d.below(2)]
