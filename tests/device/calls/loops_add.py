"""Random calls of loops_add: see loop_forms."""

from calls.loops_order import place


def add32(d):
    return place(d, "f", d.below(2))
