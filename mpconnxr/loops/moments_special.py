"""Rows of normalize that hold inf or nan: with Python's floats, and allocating. Plain form."""

import struct

from .. import forms

# in w
_X = const(8)
_Y = const(9)
_FACTORS = const(12)


def row(p, w):
    """The row that loops/moments has centred. p, w: as of its rows.

    Access: of the loops in whose place it is called
    """
    loops = forms.get("normalize")
    moments = [0.0, 0.0, struct.unpack("<f", struct.pack("<i", p[3]))[0]]
    q = p[0], p[1], p[2], p[20], p[18] or 1
    loops.moments(w[_X], w, moments, q)
    factors = [w[i] for i in range(_FACTORS, len(w), 2)]
    apply = (loops.plain, loops.scaled, loops.scaled_shifted)[len(factors)]
    apply(w[_X], [moments] + factors, w[_Y], q)
