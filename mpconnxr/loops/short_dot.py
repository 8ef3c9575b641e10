"""Sums of short mantissas, the inner loop of block_conv and block_gemm with --float fast16. Plain
form.

    x    mantissas of loops/block, of at most 15 bits: rows of columns
    w    mantissas plus 2**14, uint16: channels of as many columns, contiguous, each padded to an
         even number of columns
    out  for each row of x, sum(x * w) + 2**30 of each channel

A mantissa of x is at most 2**(b - 1), where b is 15 up to 16 columns and one less for each
fourfold number of columns; the converter makes those of w so small that sums stay below 2**30. So
one wrapping product per element suffices; the contribution of 2**14, 2**14 * sum(x), is subtracted
from the sum.
"""

from .block_dot import (
    _CHANNELS,
    _COLUMNS,
    _OUT_START,
    _ROWS,
    _W_START,
    _X_ROW_STRIDE,
    _X_START,
)

# Parameters of dots: as block_dot.dots


def dots(x, w, out, p):
    """Compute sums of mantissas for all rows and channels.

    Access:
        n = (rows - 1) * x_row_stride + columns
        reads x as int32[x_start : x_start + n] if columns
        reads w as uint16[w_start : w_start + channels * (columns + columns % 2)]
        writes out as int32[out_start : out_start + rows * channels]
        given 0 - (1 << 14) <= x[x_start : x_start + n] <= 1 << 14 if columns
        given w[w_start : w_start + channels * (columns + columns % 2)] < 1 << 15
        given w_start % 2 == 0
    """
    x_row, at = p[_X_START], p[_OUT_START]
    columns = p[_COLUMNS]
    rows_left = p[_ROWS]
    while rows_left:
        added = (_sum(x, x_row, x_row + columns) << 14) - (1 << 30)
        w_row = p[_W_START]
        channels_left = p[_CHANNELS]
        while channels_left:
            total = _dot(x, w, x_row, x_row + columns, w_row) - added
            out[at] = (total & 0x7FFFFFFF) - (total & 0x80000000)
            at += 1
            w_row += columns + (columns & 1)
            channels_left -= 1
        x_row += p[_X_ROW_STRIDE]
        rows_left -= 1


def _sum(x, i, end):
    total = 0
    while i < end:
        total += x[i]
        i += 1
    return total


def _dot(x, w, i, end, j):
    total = 0
    while i < end:
        total += x[i] * w[j]
        i += 1
        j += 1
    return total
