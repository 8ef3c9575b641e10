"""Rows that are normalized in fixed point, by calls. Written once, for Python and viper.

p     as of norms in loops/fixed; 18 rows: the first one, the end
"""

from ._words import bit, set_at


def rows(p: ptr32, w):
    """w: loops centre, squares and inverse of moments, norms of fixed; p; x, the words of norms,
    out

    Access: of the loops it calls
    """
    centre, squares, inverse, norms, whole = w[:5]
    x, factors, out = w[5], w[6], w[7]
    one = bit(30)
    i = set_at(p, 14, one)
    i = set_at(p, 15, one)
    while p[18] < p[19]:
        first = p[18] * p[1]
        i = set_at(p, 0, first)
        centre(x, out, out, whole)
        if p[4] < 255:
            squares(out, out, out, whole)
            inverse(out, out, out, whole)
        norms(out, factors, out, whole)
        i = set_at(p, 18, p[18] + 1)
