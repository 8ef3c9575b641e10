"""Products of float32, rounded to even. Plain form: see loops/add.

out = x * w or, if is_prelu, x where x is not negative
"""

from ._words import (
    _COLUMNS,
    _OUT_START,
    _ROWS,
    _W_ROW_STRIDE,
    _W_START,
    _W_STRIDE,
    _X_ROW_STRIDE,
    _X_START,
    _X_STRIDE,
)

# Parameters of mul32: as _words.pairs
_IS_PRELU = const(9)  # multiply only negative elements, as PRelu does [flag] 0, 1

NAN = float("nan")


def mul32(x, w, out, p):
    """Access: as add.add32"""
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    rows = p[_ROWS]
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            v = x[i]
            if not (p[_IS_PRELU] and v >= 0.0):
                v = v * w[j]
            out[k] = v if v == v else NAN
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1
