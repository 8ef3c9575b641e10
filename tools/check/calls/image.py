"""Random calls of loops/image: see on_board_loops."""

_BYTES = (1, 3, 2, 2)  # of a pixel, by kind


def _axis(d):
    """Extent of the picture, first pixel and step (16.16), extent of the tensor."""
    n, size = d.between(1, 7), d.between(1, 5)
    end = (n << 16) - 1
    step = end // size - d.below(1000)
    return n, d.below(end - (size - 1) * step + 1), step, size


def pixels(d):
    width, column, columns, w = _axis(d)
    height, row, rows, h = _axis(d)
    channels, kind, size = 1 + 2 * d.below(2), d.below(4), 1 + 3 * d.below(2)
    strides = [h * w, 1, w] if d.below(2) else [1, channels, channels * w]
    p = [width, column, row, columns, rows, w, h, channels] + strides + [kind, d.below(2), size]
    out = d.blank("B", channels * h * w * size + 2)
    return d.octets(width * height * _BYTES[kind]), d.words(768), out, p
