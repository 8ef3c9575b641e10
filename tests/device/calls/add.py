"""Random calls of loops/add: see loop_forms."""

from calls.order import place


def add32(d):
    return place(d, "f", d.below(2))
