"""Random calls of loops/add: see on_board_loops."""

from calls.order import place


def add32(d):
    return place(d, "f", d.below(2))
