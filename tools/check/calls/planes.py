"""Random calls of loops/planes: see on_board_loops."""

_BIAS = 1 << 29


def planes(d):
    n, height, width, column = d.between(1, 3), d.between(1, 5), d.between(1, 7), d.between(1, 2)
    row_stride = width * column
    plane = height * row_stride
    rows, left, right = d.between(1, 7), d.below(3), d.below(3)
    row = left + width + right
    first, out_first = d.below(4), d.below(5)
    p = [first, n, plane, height, rows, row_stride, column, row, left, width, out_first]
    p += [_BIAS + d.between(-2, 4), d.below(2) * 128, d.below(256)]
    x = d.octets(first + n * plane)
    return x, x, d.blank("B", out_first + n * rows * row + 1), p
