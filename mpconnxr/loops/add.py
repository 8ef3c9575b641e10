"""Sums and differences of float32, rounded to even. Plain form: computes with Python floats.

    out = x + w or, if is_difference, x - w

x and w hold rows of strided elements; the rows of out are contiguous. A stride of 0 broadcasts.
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

# Parameters of add32: as _words.pairs
_IS_DIFFERENCE = const(9)  # subtract w instead of adding it [flag] 0, 1

NAN = float("nan")


def add32(x, w, out, p):
    """Compute sums or differences of pairs.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x as float32[x_start : x_last + 1] if rows and columns
        reads w as float32[w_start : w_last + 1] if rows and columns
        writes out as float32[out_start : out_start + rows * columns]
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    rows = p[_ROWS]
    sign = -1.0 if p[_IS_DIFFERENCE] else 1.0
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            v = x[i] + sign * w[j]
            out[k] = v if v == v else NAN
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1
