"""Largest byte of each window: see loops/maxima. Viper form.

The emitter keeps the first three locals in registers: the input pointer, and, cast to pointers,
the largest byte so far, in `w`, and the flip, in `out`.
"""

from .._viper import ptr8, ptr32


def maxima8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias, columns, kernel_columns = 1 << 29, p[_COLUMNS], p[_KERNEL_COLUMNS]
    column_stride, plane, place = p[_COLUMN_STRIDE], int(x) + p[_X_START], int(out) + p[_OUT_START]
    out = ptr8(p[_FLIP])
    for planes in range(p[_PLANES], 0, -1):
        window_top = bias - p[_ROW_PADDING]
        for out_rows in range(p[_OUT_ROWS], 0, -1):
            top, bottom = window_top, window_top + p[_KERNEL_ROWS]
            top = max(top, 0)
            bottom = min(bottom, p[_ROWS])
            first_row, rows_end = plane + top * columns, plane + bottom * columns
            left = bias - p[_COLUMN_PADDING]
            for out_columns in range(p[_OUT_COLUMNS], 0, -1):
                first_column, width = left, kernel_columns
                if left < 0:
                    width += left
                    first_column = 0
                if first_column + width > columns:
                    width = columns - first_column
                w = ptr8(0)
                for row in range(first_row + first_column, rows_end, columns):
                    end, x = row + width, ptr8(row)
                    while int(x) < end:
                        v = x[0] ^ int(out)
                        if v > int(w):
                            w = ptr8(v)
                        x = ptr8(1 + int(x))
                x = ptr8(place)
                x[0] = int(w) ^ int(out)
                place = 1 + int(x)
                left += column_stride
            window_top += p[_ROW_STRIDE]
        plane += p[_ROWS] * columns
