"""Random calls of loops/conv: see on_board_loops."""

_BIAS = 1 << 29


def im2col32(d):
    channels, image = d.between(1, 3), [d.between(1, 3), d.between(1, 5), d.between(1, 5)]
    taps, dilations = [d.between(1, 3) for _ in image], [d.between(1, 3) for _ in image]
    nelem, patch = channels, channels
    for k in range(3):
        nelem *= image[k]
        patch *= taps[k]
    first = d.below(9)
    corner = [_BIAS + d.between(-4, 5) for _ in image]
    x = d.words(first + nelem)
    return x, x, d.blank("i", patch + 2), [first, channels] + image + taps + dilations + corner
