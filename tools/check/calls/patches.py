"""Random calls of loops/patches (see draw.py).

Forms treat channels alone, and rows of three, differently.
"""

_BIAS = 1 << 29


def patches(d):
    return _channels(d) if d.below(3) == 0 else _windows(d)


def _channels(d):
    """Draw patches of channels alone, as for kernels of one element."""
    h, width, k = d.between(1, 4), d.between(1, 7), 4 * d.between(1, 9) - d.below(3) * d.below(2)
    plane, first = h * width + d.below(3), d.below(5)
    n = d.between(1, h * width)
    at = d.below(h * width - n + 1)
    p = [first, 1, 1, k, plane, width, plane, h, width, 1, 0, 1, 1, width, 1, width]
    p += [at // width, at % width, d.below(2) * 128, d.below(256), n, -k % 4, _BIAS, _BIAS]
    x = d.octets(first + k * plane)
    out = d.blank("B", n * (4 + (k + 3 & -4)))
    return x, out, out, p + [0]


def _windows(d):
    c, image, taps = (
        d.between(1, 4),
        [d.between(1, 9) for _ in "yx"],
        [d.between(1, 6) for _ in "yx"],
    )
    dilations, strides = [d.between(1, 3) for _ in "yx"], [d.between(1, 2) for _ in "yx"]
    column = d.between(1, 2)
    if d.below(2):  # rows of three that lie side by side
        taps[1], dilations[1], column = 3, 1, 1
    row = image[1] * column
    plane = image[0] * row
    first, width, n = d.below(5), d.between(1, 5), d.between(1, 6)
    steps = [plane, dilations[0] * row, dilations[1] * column]
    k = c * taps[0] * taps[1]
    p = [first, c] + taps + steps + image + dilations + strides + [row, column, width]
    p += [d.below(3), d.below(3 * width), d.below(2) * 128, d.below(256), n, -k % 4]
    corner = [_BIAS - d.below(4) for _ in "yx"]
    nbytes = n * (4 + (k + 3 & -4))
    x = d.octets(first + c * plane)
    out = d.blank("B", nbytes + 1)
    return x, out, out, p + corner + [nbytes * d.below(2)]
