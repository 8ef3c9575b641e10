"""Random calls of loops/long: see on_board_loops."""


def add64(d):
    rows, n = d.between(1, 5), d.between(1, 6)
    p = _operand(d, rows, n) + _operand(d, rows, n) + [d.below(5), rows, n, d.below(2)]
    return d.words(96), d.words(96), d.blank("i", 72), p


def _operand(d, rows, n):
    """First item, row stride, stride, within 48 items."""
    stride, row = d.below(4), d.below(6)
    return [d.below(48 - (rows - 1) * row - (n - 1) * stride), row, stride]
