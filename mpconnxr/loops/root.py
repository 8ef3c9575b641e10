"""Square roots of float32, rounded to nearest. Plain form: see loops/add.

x, out  floats;  w is not read
p       lo, hi: range of items
"""

import math

NAN = float("nan")


def sqrt32(x, w, out, p):
    """
    Access:
        reads x as float32[p[0] : p[1]]
        writes out as float32[p[0] : p[1]]
    """
    i = p[0]
    while i < p[1]:
        v = x[i]
        out[i] = math.sqrt(v) if v >= 0.0 else NAN
        i += 1
