"""Rows that are normalized in fixed point, by calls. Written once, for Python and viper.

The unit, and the largest and the smallest element, are those of all rows.
"""

from ._words import bit, set_at
from .fixed import _NORMS_LARGEST, _NORMS_SMALLEST
from .moments import _COLUMNS, _EXPONENT, _X_START

# Parameters of rows: as fixed.norms
_ROW = 18  # the next one [rows] 0..
_ROW_END = 19  # behind the last one [rows] 0..


def rows(p: ptr32, w):
    """Normalize rows. Write the largest and the smallest element of them.

    w: loops centre, squares and inverse of moments, norms of fixed; p; x, what norms takes as w,
    out

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
