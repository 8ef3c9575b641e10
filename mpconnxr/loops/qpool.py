"""Means of windows of quantized bytes, requantized.

x holds planes (rows, columns) from x_start on, contiguous; out gets planes (out_rows, out_columns)
from out_start on. w holds multipliers of two words: f, plus 32 if means near a tie count as ties,
and M, below 2**31. The scale is M * 2**(f - 47). If is_per_count, multiplier i is for windows with
i elements inside x, else the first one is for all.

    out = saturate(round((sum - elements * x_zero_point) * scale) + out_zero_point)

with the sum and the number of a window's elements inside x, at least one. Rounding is half to
even; results saturate to 0 .. 255. All bits of the product count; if f has 32, values within
2**-17 of a tie count as ties (for example, a sum / 6). Signed bytes become unsigned by flip, and
signed again in out.
"""

from ._windows import (
    _COLUMN_PADDING,
    _COLUMN_STRIDE,
    _COLUMNS,
    _KERNEL_COLUMNS,
    _KERNEL_ROWS,
    _OUT_COLUMNS,
    _OUT_ROWS,
    _OUT_START,
    _PLANES,
    _ROW_PADDING,
    _ROW_STRIDE,
    _ROWS,
    _X_START,
)
from ._words import times_multiplier

# Parameters of means8: as _windows.windows
_IS_PER_COUNT = const(13)  # w has a multiplier for each number of elements [flag] 0, 1
_X_ZERO_POINT = const(14)  # of x ^ flip [value] 0..255
_OUT_ZERO_POINT = const(15)  # of out ^ flip [value] 0..255
_FLIP = const(16)  # 128 if x and out are signed [mask] 0, 128


def means8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Compute the means of windows.

    Access:
        requires row_padding < kernel_rows
        requires (out_rows - 1) * row_stride < rows + row_padding
        requires column_padding < kernel_columns
        requires (out_columns - 1) * column_stride < columns + column_padding
        n = planes * out_rows * out_columns
        reads x[x_start : x_start + planes * rows * columns] if n
        reads w[0 : 2 * is_per_count * kernel_rows * kernel_columns + 2] if n
        writes out[out_start : out_start + n]
    """
    flip, columns, plane, place = p[_FLIP], p[_COLUMNS], p[_X_START], p[_OUT_START]
    for planes in range(p[_PLANES], 0, -1):
        for out_row in range(p[_OUT_ROWS]):
            top = out_row * p[_ROW_STRIDE] - p[_ROW_PADDING]
            bottom = top + p[_KERNEL_ROWS]
            top = max(top, 0)
            bottom = min(bottom, p[_ROWS])
            for out_column in range(p[_OUT_COLUMNS]):
                left = out_column * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
                right = left + p[_KERNEL_COLUMNS]
                left = max(left, 0)
                right = min(right, columns)
                total, row, row_end = 0, plane + top * columns, plane + bottom * columns
                while row < row_end:
                    i, end = row + left, row + right
                    while i < end:
                        total += x[i] ^ flip
                        i += 1
                    row += columns
                elements = (bottom - top) * (right - left)
                i = 2 * p[_IS_PER_COUNT] * elements
                v, f, low = total - elements * p[_X_ZERO_POINT], w[i] & 31, w[i + 1]
                limit = (1 << 25) >> f
                v = max(min(v, limit), 0 - limit)
                v, high, low = v << f, (low >> 15) & 65535, low & 32767
                v, rest, low, part = times_multiplier(v, high, low)
                if w[i] & 32:
                    v, rest = ((v + 8) >> 4) << 4, 0
                v = (v + 524287 + (1 if rest else (v >> 20) & 1)) >> 20
                v = min(max(v + p[_OUT_ZERO_POINT], 0), 255)
                out[place] = v ^ flip
                place += 1
        plane += p[_ROWS] * columns
