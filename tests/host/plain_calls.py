"""Random calls of loops that have one form, FAMILY_LOOP; tools/check/calls has the others.

No board calls them, for there are no forms to compare.
"""

from array import array


def floats(d, n):
    return array("f", [d.between(-900, 900) / 64 for _ in range(n)])


def _axis(d, *more):
    """Return elements and parameters of a middle axis: lo, hi, n, inner."""
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
    return array("i", [int(v) for v in x]), w, array("q", [0] * len(out)), p


def _wrapping(d):
    """Return (bits of an integer dtype if it is signed else 0, its bits)."""
    bits = (8, 16, 32)[d.below(3)]
    return bits * d.below(2), bits


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
    return _whole(_same_shape(d, (), d.below(2), d.below(2), d.below(2), *_wrapping(d)))


def deform_deformed_patch(d):
    c, h, width, kh, kw = [d.between(1, 4) for _ in range(5)]
    groups, a_group, batch = d.between(1, 3), d.between(1, 4), d.between(1, 2)
    oh, ow, first = d.between(1, 3), d.between(1, 3), d.below(5)
    plane, taps = oh * ow, kh * kw
    channel = d.below(max(groups * a_group - c, 0) + 1)
    groups = max(groups, -(-(channel + c) // a_group))
    masks = batch * groups * taps * plane
    w = floats(d, 2 * masks), floats(d, masks)
    at = d.below(batch) * groups * taps * plane + d.below(plane)
    p = [first, channel, c, h, width, kh, kw, d.between(1, 2), d.between(1, 2)]
    p += [d.between(-2, 2), d.between(-2, 2), at, plane, a_group, d.below(2)]
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
    return x, (), d.blank("f", 4 * length), [line, 0, op, n, inner, parts, length, n]


def dft_transform(d):
    length = d.between(1, 24)
    p = [0, 0, d.below(3), 1, 1, 2, length, length]
    return (), floats(d, 2 * length), floats(d, 4 * length), p


def dft_store(d):
    op = d.below(3)
    _, inner, outer, length, _, line = _line(d, op)
    n, parts = d.between(1, length), 1 if op == 2 else 2
    out = d.blank("f", outer * n * inner * parts)
    p = [line, 2 * length * d.below(2), op, 1, inner, 1, length, n]
    return floats(d, 4 * length), (), out, p


def dot_dots_f32(d):
    k, m, bias, stride = d.below(70), d.between(1, 4), d.below(2), d.between(1, 3)
    first, at, w_first = d.below(4), d.below(4), d.below(4)
    out = d.blank("f", at + (m - 1) * stride + 1)
    p = [first, k, at, stride, bias, w_first, m]
    return floats(d, first + k), floats(d, w_first + m * (k + bias)), out, p


def dot_dots_int(d):
    x, w, out, p = dot_dots_f32(d)
    x, w = [array("i", [int(v) for v in a]) for a in (x, w)]
    return x, w, array("q", [0] * len(out)), [*p, *_wrapping(d)]


def grid_sample_sample(d):
    n, c, rank, places = d.between(1, 2), d.between(1, 3), d.between(2, 3), d.between(1, 5)
    dims = [d.between(1, 3) if rank == 3 else 1, d.between(1, 4), d.between(1, 5)]
    lo = d.below(n * places)
    p = [lo, d.between(lo, n * places), c, *dims, places, rank]
    p += [d.below(3) if rank == 2 else d.below(2), d.below(3), d.below(2)]
    w = array("f", [d.between(-300, 300) / 128 for _ in range(n * places * rank)])
    plane = dims[0] * dims[1] * dims[2]
    return floats(d, n * c * plane), w, d.blank("f", n * c * places), p


def _regions(d):
    """Return x, number of regions, out, (range of regions, number of images), (C to ow)."""
    n, c, h, width, oh, ow, regions = [d.between(1, 4) for _ in range(7)]
    lo, out = d.below(regions), d.blank("f", regions * c * oh * ow)
    x, some = floats(d, n * c * h * width), (lo, d.between(lo, regions), n)
    return x, regions, out, some, (c, h, width, oh, ow)


def max_roi_regions(d):
    x, n, out, (lo, hi, images), dims = _regions(d)
    w = array("f")
    for _ in range(n):
        w.extend([d.below(images), *[d.between(-20, 50) / 8 for _ in range(4)]])
    return x, (w, floats(d, 1), b"name"), out, [lo, hi, images, *dims]


def normalize_rows(d):
    rows, width, groups = d.between(1, 5), d.between(1, 5), d.between(1, 9)
    period, step, factors, gives = d.between(1, 3), d.below(groups + 1), d.below(3), d.below(2)
    n, lo = width * groups, d.below(rows)
    m = (period - 1) * step + groups
    w = [array("f", [1e-5])] + [floats(d, m) for _ in range(2)]
    w += [d.blank("f", rows) for _ in range(2 * gives)]
    p = [lo, d.between(lo, rows), n, d.below(2), period, step, width, factors, gives]
    return floats(d, rows * n), w, d.blank("f", rows * n), p


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
    zeros = array("b", [d.between(-9, 9) for _ in range(sizes[1])])
    p = places + [first, rows, n, d.below(2)]
    return floats(d, sizes[0]), (floats(d, sizes[1]), zeros), d.blank("f", first + rows * n), p


def quantize_quantize(d):
    x, w, out, p = _quantized(d)
    return x, w, array("b", bytes(len(out))), [*p, -128, 127, d.below(2)]


def quantize_dequantize(d):
    x, w, out, p = _quantized(d)
    return array("b", [int(v) for v in x]), w, out, p


def reduce_sum_float(d):
    return _reduced(d, (), d.below(4))


def reduce_sum_int(d):
    power = d.below(3)
    return _whole(_reduced(d, (), power, *_wrapping(d), d.below(2), power == 2))


def reduce_prod_float(d):
    return _reduced(d)


def reduce_prod_int(d):
    return _whole(_reduced(d, (), 0, *_wrapping(d)))


def reduce_largest(d):
    return _reduced(d, [-1e9])


def reduce_smallest(d):
    return _reduced(d, [1e9])


def reduce_log_sum_exp(d):
    return _reduced(d)


def _finished(d, *more):
    """Return a call of a loop that finishes sums: its buffers and parameters."""
    n, lo = d.between(1, 9), d.below(9)
    x = array("f", [d.between(0, 900) / 64 for _ in range(lo + n)])
    return x, (), d.blank("f", lo + n), [lo, lo + d.below(n + 1), d.below(5), 1, *more]


def reduce_mean(d):
    return _finished(d)


def reduce_root(d):
    return _finished(d, d.between(2, 4))


def reduce_log(d):
    return _finished(d)


def resample_resample(d):
    outer, n_in, inner = d.between(1, 2), d.between(3, 6), d.between(1, 3)
    n_out, taps = d.between(1, 4), d.between(1, 3)
    lo = d.below(outer * n_out)
    p = [lo, d.between(lo, outer * n_out), n_in, inner, n_out, taps]
    w = array("f", [d.between(-1, 2) for _ in range(n_out * taps)])
    p += [d.below(n_in - taps + 1) for _ in range(n_out)]
    return floats(d, outer * n_in * inner), w, d.blank("f", outer * n_out * inner), p


def roi_regions(d):
    x, n, out, (lo, hi, images), dims = _regions(d)
    w = array("f", [d.between(-12, 30) / 8 for _ in range(4 * n)])
    batch = array("i", [d.below(images) for _ in range(n)])
    p = [lo, hi, *dims, 0, 0, d.below(2), images, d.below(3), d.below(2)]
    return x, (w, batch, array("f", [0.5]), b"name"), out, p


def scatter_scatter(d):
    k, n, inner = d.between(1, 5), d.between(1, 5), d.between(1, 3)
    lo = d.below(k)
    w = [d.below(n) for _ in range(k)], b"name"
    p = [lo, d.between(lo, k), n, inner, d.between(1, 4)]
    p += _wrapping(d) if d.below(2) else (0, 0)
    x, out = [array("q", [d.between(-99, 99) for _ in range(m * inner)]) for m in (k, n)]
    return x, w, out, p


def scores_pair(d):
    n, kind = d.between(1, 9), d.below(3)
    lo, w = d.below(n), (d.words(4), d.blank("i", 2 * n))
    return floats(d, n), w, d.blank("f", 2 * n), [lo, d.between(lo, n), kind, d.below(2)]


def _scores(d):
    n, elements = d.between(1, 5), d.between(1, 6)
    lo, x = d.below(n), array("f", [d.between(0, 64) / 64 for _ in range(n * elements)])
    return x, (), d.blank("f", n * elements), [lo, d.between(lo, n), elements]


def scores_softmax_zero(d):
    return _scores(d)


def scores_probit(d):
    return _scores(d)


def series_arithmetic(d):
    n = d.below(9)
    return floats(d, 1), floats(d, 1), d.blank("f", n), [n]


def series_cosines(d):
    n = d.below(9)
    p = [n if d.below(2) else -1, d.below(2)]
    return array("i", [n]), (floats(d, 3), b"name"), d.blank("f", n), p


def series_mel_weights(d):
    bins, length, rate = d.between(1, 6), d.between(8, 40), d.between(100, 900)
    lines = length // 2 + 1
    x = [array("i", [v]) for v in (bins, length, rate)]
    x += [array("f", [v]) for v in (d.below(9), rate / 2 - d.below(9))]
    p = [lines, bins] if d.below(2) else [-1, -1]
    return x, b"name", d.blank("f", lines * bins), p


def softmax_softmax(d):
    return _same_shape(d)


def softmax_log_softmax(d):
    return _same_shape(d)


def softmax_hardmax(d):
    return _same_shape(d)


def svm_probabilities(d):
    n, classes = d.between(1, 3), d.between(2, 4)
    pairs, lo = classes * (classes - 1) // 2, d.below(n)
    sizes = pairs, pairs, classes * classes, classes * classes, classes
    w = [floats(d, size) for size in sizes]
    return floats(d, n * pairs), w, d.blank("f", n * classes), [lo, d.between(lo, n), classes]


def _leaves(d):
    leaves, targets, first = d.between(1, 6), d.between(1, 4), d.below(3)
    ends = [0]
    for _ in range(leaves):
        ends.append(ends[-1] + d.below(targets + 1))
    entries = array("i", [d.below(targets) for _ in range(ends[-1])])
    w = array("i", ends), entries, floats(d, ends[-1]), floats(d, targets)
    x = array("i", [d.below(leaves) for _ in range(d.between(1, 5))])
    return x, w, d.blank("f", first + targets), [first, targets, d.between(1, 5), len(x)]


def tree_values_total(d):
    return _leaves(d)


def tree_values_least(d):
    return _leaves(d)


def tree_values_most(d):
    return _leaves(d)


def tree_values_rank_doubles(d):
    features, slots, at, cuts = d.between(1, 5), d.between(1, 5), d.below(3), d.between(1, 9)
    first, table = features * d.below(3), [0] * at
    for _ in range(slots):
        n = d.below(cuts + 1)
        table += [2 * d.below(features) + d.below(2), d.below(cuts - n + 1), 0, n]
    x = array("d", [d.between(-9, 9) for _ in range(first + features)])
    if d.below(4) == 0:
        x[first + d.below(features)] = float("nan")
    w = array("i", table), array("d", sorted(d.between(-9, 9) for _ in range(cuts)))
    return x, w, d.blank("i", slots), [first, slots, at]


def top_k_top_k(d):
    outer, x, p = _axis(d)
    k = d.between(1, 4)
    n = outer * k * p[3]
    return x, d.blank("i", n), d.blank("f", n), [*p, k, d.below(2)]
