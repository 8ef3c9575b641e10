"""Copies between strided layouts, for 8-bit and 32-bit elements."""

from ._hints import inline

# Parameters of copy8, copy32
_START = 0  # first plane [planes] 0..
_END = 1  # end, exclusive [planes] 0..
_ROWS = const(2)  # of a plane [rows] 0..
_COLUMNS = const(3)  # [elements] 0..
_X_PLANE_STRIDE = const(4)  # from plane to plane of x [elements, BIAS]
_X_ROW_STRIDE = const(5)  # from row to row of x [elements, BIAS]
_X_COLUMN_STRIDE = 6  # from column to column of x [elements, BIAS]
_OUT_PLANE_STRIDE = const(7)  # from plane to plane of out [elements, BIAS]
_OUT_ROW_STRIDE = const(8)  # from row to row of out [elements, BIAS]
_OUT_COLUMN_STRIDE = const(9)  # from column to column of out [elements, BIAS]
_X_START = 10  # of plane 0 [elements, BIAS] 0..
_OUT_START = 11  # of plane 0 [elements, BIAS] 0..


@inline
def _move(x, out, p):
    """Copy elements from one layout to another, in both loops."""
    bias, columns = 1 << 29, p[_COLUMNS]
    x_stride, out_stride = p[_X_COLUMN_STRIDE] - bias, p[_OUT_COLUMN_STRIDE] - bias
    for plane in range(p[_START], p[_END]):
        for row in range(p[_ROWS]):
            i = (
                p[_X_START]
                - bias
                + plane * (p[_X_PLANE_STRIDE] - bias)
                + row * (p[_X_ROW_STRIDE] - bias)
            )
            place = (
                p[_OUT_START]
                - bias
                + plane * (p[_OUT_PLANE_STRIDE] - bias)
                + row * (p[_OUT_ROW_STRIDE] - bias)
            )
            for column in range(columns):
                out[place] = x[i]
                i += x_stride
                place += out_stride


def copy8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Copy planes of bytes.

    Access:
        lasts = end - start - 1, rows - 1, columns - 1
        x_strides = x_plane_stride, x_row_stride, x_column_stride
        out_strides = out_plane_stride, out_row_stride, out_column_stride
        x_first, out_first = x_start + start * x_plane_stride, out_start + start * out_plane_stride
        s = [lasts[i] * x_strides[i] for i in range(3)]
        t = [lasts[i] * out_strides[i] for i in range(3)]
        reads x[x_first + sum(min(v, 0) for v in s) : x_first + sum(max(v, 0) for v in s) + 1]
            if min(lasts) >= 0
        writes out[out_first + sum(min(v, 0) for v in t)
            : out_first + sum(max(v, 0) for v in t) + 1] if min(lasts) >= 0
    """
    _move(x, out, p)


def copy32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as copy8"""
    _move(x, out, p)
