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
    factors = [w[i] for i in range(_FACTORS, len(w), 2)]
    epsilon = struct.unpack("<f", struct.pack("<i", p[3]))
    q = p[13], p[13] + 1, p[1], p[2], p[15], p[16], p[18] or 1, len(factors), 0
    forms.get("normalize").rows(w[_X], [epsilon] + factors, w[_Y], q)
