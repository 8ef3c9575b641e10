"""Copies of elements where a condition holds.

x holds elements, w the condition in bytes, out elements, which keep their contents where the
condition is 0. All have rows as in loops/add.
"""

from ._hints import inline
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

# Parameters of select8, select32: as _words.pairs


@inline
def _select(x, w, out, p):
    """Copy elements where the condition holds, in both loops."""
    k, n = p[_OUT_START], p[_COLUMNS]
    for row in range(p[_ROWS]):
        i, j, end = (
            p[_X_START] + row * p[_X_ROW_STRIDE],
            p[_W_START] + row * p[_W_ROW_STRIDE],
            k + n,
        )
        while k < end:
            if w[j] != 0:
                out[k] = x[i]
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1


def select8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as ints.larger32"""
    _select(x, w, out, p)


def select32(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Access: as ints.larger32"""
    _select(x, w, out, p)
