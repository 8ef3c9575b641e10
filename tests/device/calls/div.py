"""Random calls of loops/div: see loop_forms."""

from calls.order import place


def div32(d):
    return place(d, "f")
