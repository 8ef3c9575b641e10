"""Rows of kernel normalize with inf or NaN, in Python floats; allocates. Plain form."""

import struct

from .. import forms
from .moments import (
    _COLUMNS,
    _EPSILON,
    _FACTOR_ROW_STRIDE,
    _IS_CENTRED,
    _PAIRS_X_ROW_STRIDE,
    _PERIOD,
    _ROW,
)

# in w
_X = const(8)
_Y = const(9)
_FACTORS = const(12)

# Parameters of row: as moments.rows


def row(p, w):
    """Normalize the row that loops/moments has centred. p and w as for moments.rows.

    Access: of the loops in whose place it is called
    """
    factors = [w[i] for i in range(_FACTORS, len(w), 2)]
    epsilon = struct.unpack("<f", struct.pack("<i", p[_EPSILON]))
    block = (
        p[_ROW],
        p[_ROW] + 1,
        p[_COLUMNS],
        p[_IS_CENTRED],
        p[_PERIOD],
        p[_FACTOR_ROW_STRIDE],
        p[_PAIRS_X_ROW_STRIDE] or 1,
        len(factors),
        0,
    )
    forms.get("normalize").rows(w[_X], [epsilon] + factors, w[_Y], block)
