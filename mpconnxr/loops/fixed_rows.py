"""Rows that are normalized in fixed point, by calls. Written once, for Python and viper.

p     as of norms in loops/fixed; 18 rows: the first one, the end

Made from tools/loops/common/fixed_rows.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def rows(p: ptr32, w):
    """w: loops centre, squares and inverse of moments, norms of fixed; p; x, the words of norms,
    out

    Access: of the loops it calls
    """
    centre = w[0]
    squares = w[1]
    inverse = w[2]
    norms = w[3]
    whole = w[4]
    x = w[5]
    factors = w[6]
    out = w[7]
    one = 1
    one = one << 30
    i = 14
    p[i] = one
    i = 15
    p[i] = one
    while p[18] < p[19]:
        first = p[18] * p[1]
        i = 0
        p[i] = first
        centre(x, out, out, whole)
        if p[4] < 255:
            squares(out, out, out, whole)
            inverse(out, out, out, whole)
        norms(out, factors, out, whole)
        i = 18
        p[i] = (p[18] + 1)
