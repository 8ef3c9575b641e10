"""Random calls of loops_mul: see loop_forms."""

from calls.loops_order import place


def mul32(d):
    return place(d, "f", d.below(2))
