"""Random calls of loops/order: see on_board_loops."""

from array import array


def larger32(d):
    return place(d, "f", d.below(2))


def compare8(d):
    return place(d, "B", d.below(8))


def place(d, kind, *flags):
    """Two operands, and where a loop over pairs of their items finds them."""
    rows, n = d.between(1, 5), d.between(1, 9)
    p = _operand(d, rows, n) + _operand(d, rows, n) + [d.below(19), rows, n]
    x, w = [array("f", bytes(d.words(96))) for _ in range(2)]
    return x, w, d.blank(kind, 64), p + list(flags)


def _operand(d, rows, n):
    """First item, row stride, stride, within 96 items."""
    stride, row = d.below(4), d.below(10)
    return [d.below(96 - (rows - 1) * row - (n - 1) * stride), row, stride]
