"""Copies of planes with padding around them. Plain form.

Element (plane, row, column) of x lies at x_start + plane * x_plane_stride + row * x_row_stride +
column * x_column_stride. out gets out_rows rows of out_columns bytes for each plane: left_padding
bytes of padding, `columns` elements of x, flipped, and padding. The rows are those of x from
first_row on; rows outside of x are only padding.
"""

# Parameters of planes
_X_START = const(0)  # [elements] 0..
_PLANES = const(1)  # [planes] 1..
_X_PLANE_STRIDE = const(2)  # from plane to plane of x [elements] 0..
_ROWS = const(3)  # of x [elements] 1..
_OUT_ROWS = const(4)  # [elements] 1..
_X_ROW_STRIDE = const(5)  # from row to row of x [elements] 0..
_X_COLUMN_STRIDE = const(6)  # from column to column of x [elements] 0..
_OUT_COLUMNS = const(7)  # with padding [elements] 1..
_LEFT_PADDING = const(8)  # [elements] 0..
_COLUMNS = const(9)  # elements of a row that are copied [elements] 0..
_OUT_START = const(10)  # [elements] 0..
_FIRST_ROW = const(11)  # of x, which may lie outside of it [elements, BIAS]
_FLIP = const(12)  # 128 if x is signed [mask] 0, 128
_PADDING = const(13)  # an element outside of x, unsigned [value] 0..255


def planes(x, w, out, p):
    """Copy planes of bytes.

    Access:
        requires left_padding + columns <= out_columns
        plane = (rows - 1) * x_row_stride + (columns - 1) * x_column_stride + 1
        reads x as uint8[x_start : x_start + (planes - 1) * x_plane_stride + plane] if columns
        writes out as uint8[out_start : out_start + planes * out_rows * out_columns]
    """
    bias = 1 << 29
    at = p[_OUT_START]
    flip = p[_FLIP]
    stride = p[_X_COLUMN_STRIDE]
    plane = 0
    while plane < p[_PLANES]:
        row = p[_FIRST_ROW]
        rows = p[_OUT_ROWS]
        while rows:
            end = at + p[_OUT_COLUMNS]
            if row >= bias and row < bias + p[_ROWS]:
                stop = at + p[_LEFT_PADDING]
                while at < stop:
                    out[at] = p[_PADDING]
                    at += 1
                i = p[_X_START] + plane * p[_X_PLANE_STRIDE] + (row - bias) * p[_X_ROW_STRIDE]
                stop = at + p[_COLUMNS]
                while at < stop:
                    out[at] = x[i] ^ flip
                    i += stride
                    at += 1
            while at < end:
                out[at] = p[_PADDING]
                at += 1
            row += 1
            rows -= 1
        plane += 1
