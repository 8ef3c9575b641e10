"""Random calls of loops/remainders: see on_board_loops."""

from array import array

from .order import place


def remainder32(d):
    x, w, out, p = place(d, "i", d.below(2))
    x, w = d.words(96), d.words(96)
    if d.below(4):
        x, w = [array("i", [(v & 0x83FFFFFF) - ((v & (1 << 31)) << 1) for v in t]) for t in (x, w)]
    if d.below(2):
        w = array("i", [w[i] if d.below(3) else x[i] for i in range(96)])
    return x, w, out, p
