"""Random calls of loops_div: see loop_forms."""

from calls.loops_order import place


def div32(d):
    return place(d, "f")
