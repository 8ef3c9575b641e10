"""Quotients x / w of float32, rounded to even. Plain form: see loops/add."""

from math import copysign

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

# Parameters of div32: as _words.pairs

NAN = float("nan")
INF = float("inf")


def div32(x, w, out, p):
    """Access: as add.add32"""
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    rows = p[_ROWS]
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            v = w[j]
            v = x[i] / v if v else x[i] * copysign(INF, v)
            out[k] = v if v == v else NAN
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1
