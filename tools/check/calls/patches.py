"""Random calls of loops/patches: see on_board_loops."""

_BIAS = 1 << 29


def patches(d):
    c, image, taps = (
        d.between(1, 4),
        [d.between(1, 9) for _ in "yx"],
        [d.between(1, 6) for _ in "yx"],
    )
    dilations, strides = [d.between(1, 3) for _ in "yx"], [d.between(1, 2) for _ in "yx"]
    column = d.between(1, 2)
    row = image[1] * column
    plane = image[0] * row
    first, width, n = d.below(5), d.between(1, 5), d.between(1, 6)
    steps = [plane, dilations[0] * row, dilations[1] * column]
    k = c * taps[0] * taps[1]
    p = [first, c] + taps + steps + image + dilations + strides + [row, column, width]
    p += [d.below(3), d.below(width), d.below(2) * 128, d.below(256), n, -k % 4]
    corner = [_BIAS - d.below(4) for _ in "yx"]
    nbytes = n * (4 + (k + 3 & -4))
    x = d.octets(first + c * plane)
    out = d.blank("B", nbytes)
    return x, out, out, p + corner
