"""Normalization of rows in fixed point, by calls of loops/moments and loops/fixed.

All rows share the unit and the range.
"""

from ._words import bit, set_at
from .fixed import _NORMS_LARGEST, _NORMS_SMALLEST
from .moments import _COLUMNS, _EXPONENT, _X_START

# Parameters of rows: as fixed.norms
_ROW = 18  # next row [rows] 0..
_ROW_END = 19  # end, exclusive [rows] 0..


def rows(p: ptr32, w):
    """Normalize rows `row` to row_end - 1, and update the range of their elements.

    w lists loops centre, squares and inverse of moments, norms of fixed; p; x, the w of norms,
    out.

    Access: of the loops it calls
    """
    centre, squares, inverse, norms, whole = w[:5]
    x, factors, out = w[5], w[6], w[7]
    one = bit(30)
    i = set_at(p, _NORMS_LARGEST, one)
    i = set_at(p, _NORMS_SMALLEST, one)
    first_row = p[_ROW]
    while p[_ROW] < p[_ROW_END]:
        first = p[_ROW] * p[_COLUMNS]
        i = set_at(p, _X_START, first)
        centre(x, out, out, whole)
        if p[_EXPONENT] < 255:
            squares(out, out, out, whole)
            inverse(out, out, out, whole)
        norms(out, factors, out, whole)
        i = set_at(p, _ROW, p[_ROW] + 1)
    i = set_at(p, _ROW, first_row)
