"""Random calls of loops/mul: see on_board_loops."""

from calls.order import place


def mul32(d):
    return place(d, "f", d.below(2))
