"""Random calls of loops/mul: see loop_forms."""

from calls.order import place


def mul32(d):
    return place(d, "f", d.below(2))
