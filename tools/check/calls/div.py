"""Random calls of loops/div: see on_board_loops."""

from calls.order import place


def div32(d):
    return place(d, "f")
