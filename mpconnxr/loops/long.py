"""Sums and differences of int64.

x, w and out hold int64 as words, the low one first, in rows as in loops/add.
"""

from ._hints import inline
from ._words import _OUT_START, _W_START, _X_START, all_but_sign, pairs

# Parameters of add64: as _words.pairs
_IS_DIFFERENCE = const(9)  # subtract w instead of adding it [flag] 0, 1


@inline
def put(out, at, high, low, mask):
    """Set out[at] to a word from two 16-bit halves, and return it with its sign.

    Temporary: low.
    """
    low = (high & 32767) << 16 | low & 0xFFFF
    if high & 32768:
        low -= mask + 1
    out[at] = low
    return low


def add64(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Add or subtract pairs.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x[2 * x_start : 2 * x_last + 2] if rows and columns
        reads w[2 * w_start : 2 * w_last + 2] if rows and columns
        writes out[2 * out_start : 2 * (out_start + rows * columns)]
    """
    mask = all_but_sign()
    flip = 0xFFFF if p[_IS_DIFFERENCE] else 0
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        v = w[2 * j]
        low = (x[2 * i] & 0xFFFF) + ((v & 0xFFFF) ^ flip) + p[_IS_DIFFERENCE]
        high = ((x[2 * i] >> 16) & 0xFFFF) + (((v >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        a, b = x[2 * i + 1], w[2 * j + 1]
        low = put(out, 2 * k, high, low, mask)
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + (high >> 16)
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        low = put(out, 2 * k + 1, high, low, mask)
