"""Random calls of loops/block: see on_board_loops."""

_BIAS = 1 << 29


def peak(d):
    first, n = d.below(5), d.below(30)
    x = d.words(first + n + 1)
    return x, x, d.blank("i", 3), [first, n, d.below(3)]


def mantissas(d):
    channels, image = d.between(1, 2), [d.between(1, 2), d.between(1, 4), d.between(1, 4)]
    taps, first = [d.between(1, 2), d.between(1, 3)], d.below(4)
    corner = [_BIAS + d.between(-2, 3) for _ in image]
    rows, n0, n1 = d.between(1, 3), d.between(1, 3), d.between(1, 3)
    columns, out_first = n0 * n1 + d.below(3), d.below(4)
    p = [first, channels] + image + taps + [d.between(1, 2), d.between(1, 2)] + corner
    p += [rows, d.between(1, 2), n0, d.between(1, 3), n1, d.between(1, 3), columns, out_first]
    x = d.words(first + channels * image[0] * image[1] * image[2])
    largest = 1  # exponent
    mask = -1 - (d.below(2) * 7 << 28)  # at times an exponent has five bits, and denormals count
    for i in range(len(x)):
        x[i] &= mask
        if x[i] >> 23 & 255 == 255:
            x[i] = i  # no inf, no nan
        largest = max(largest, x[i] >> 23 & 255)
    out = d.blank("i", out_first + rows * columns * channels * taps[0] * taps[1])
    return x, x, out, p + [min(largest + d.below(2) * d.below(30), 254)]


def align(d):
    channels, out_first = d.between(1, 4), d.below(4)
    first, step, w_first, w_step = d.below(4), d.below(3), d.below(4), d.between(1, 4)
    x, w = d.words(first + step * channels + 1), d.octets(w_first + w_step * channels)
    out = d.blank("i", out_first + 4 * channels)
    p = [first, step, w_first, w_step, channels, out_first, d.between(1, 254)]
    return x, w, out, p


def fill(d):
    first, n, rows, more = d.below(4), d.below(4), d.below(4), d.below(3)
    out = d.blank("i", first + rows * (n + more))
    return out, out, out, [first, n, rows, n + more, d.below(2), d.below(1 << 20) << 11]
