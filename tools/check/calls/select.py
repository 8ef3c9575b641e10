"""Random calls of loops/select: see on_board_loops."""


def _place(d, rows, n):
    """First item, row stride, stride, within 96 items."""
    stride, row = d.below(4), d.below(10)
    return [d.below(96 - (rows - 1) * row - (n - 1) * stride), row, stride]


def _call(d, x, out):
    rows, n = d.between(1, 5), d.between(1, 9)
    mask = d.octets(96)
    for i in range(96):
        mask[i] &= mask[i] >> 2 & 1
    p = _place(d, rows, n) + _place(d, rows, n) + [d.below(19), rows, n]
    return x, mask, out, p


def select8(d):
    return _call(d, d.octets(96), d.blank("B", 64))


def select32(d):
    return _call(d, d.words(96), d.blank("i", 64))
