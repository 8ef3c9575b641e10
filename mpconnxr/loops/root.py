"""Square roots of float32, rounded to nearest. Plain form: see loops/add. w is not read."""

import math

# Parameters of sqrt32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..

NAN = float("nan")


def sqrt32(x, w, out, p):
    """Compute the square root of each element.

    Access:
        reads x as float32[start : end]
        writes out as float32[start : end]
    """
    i = p[_START]
    while i < p[_END]:
        v = x[i]
        out[i] = math.sqrt(v) if v >= 0.0 else NAN
        i += 1
