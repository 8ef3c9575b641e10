"""Largest byte of each window, whole planes per call. Plain form.

x holds planes (rows, columns) from x_start on, contiguous; out gets planes (out_rows, out_columns)
from out_start on. w is not used. Signed bytes are compared with their top bit flipped. A window
that lies in the padding gives the least byte. Elements of out are written in the order of their
windows, each after its window has been read.
"""

# Parameters of maxima8
_X_START = 0  # [elements] 0..
_OUT_START = 1  # [elements] 0..
_PLANES = 2  # [planes] 0..
_ROWS = const(3)  # of x [elements] 0..
_COLUMNS = const(4)  # of x [elements] 0..
_KERNEL_ROWS = const(5)  # [elements] 1..
_KERNEL_COLUMNS = const(6)  # [elements] 1..
_ROW_STRIDE = const(7)  # stride of windows [elements] 0..
_COLUMN_STRIDE = const(8)  # stride of windows [elements] 0..
_ROW_PADDING = const(9)  # rows of the first window above x [elements, BIAS]
_COLUMN_PADDING = const(10)  # columns of the first window left of x [elements, BIAS]
_OUT_ROWS = const(11)  # [elements] 1..
_OUT_COLUMNS = const(12)  # [elements] 1..
_FLIP = const(13)  # 128 if x and out are signed [mask] 0, 128


def maxima8(x, w, out, p):
    """Compute the maxima of planes.

    Access:
        reads x as uint8[x_start : x_start + planes * rows * columns] if out_rows and out_columns
        writes out as uint8[out_start : out_start + planes * out_rows * out_columns]
    """
    bias = 1 << 29
    flip = p[_FLIP]
    columns = p[_COLUMNS]
    plane = p[_X_START]
    place = p[_OUT_START]
    planes = p[_PLANES]
    while planes:
        window_top = bias - p[_ROW_PADDING]
        out_rows = p[_OUT_ROWS]
        while out_rows:
            top = window_top
            bottom = window_top + p[_KERNEL_ROWS]
            if top < 0:
                top = 0
            if bottom > p[_ROWS]:
                bottom = p[_ROWS]
            left = bias - p[_COLUMN_PADDING]
            out_columns = p[_OUT_COLUMNS]
            while out_columns:
                best = 0
                row = plane + top * columns
                row_end = plane + bottom * columns
                while row < row_end:
                    i = row + left
                    if left < 0:
                        i = row
                    end = row + left + p[_KERNEL_COLUMNS]
                    if end > row + columns:
                        end = row + columns
                    while i < end:
                        v = x[i] ^ flip
                        if v > best:
                            best = v
                        i += 1
                    row += columns
                out[place] = best ^ flip
                place += 1
                left += p[_COLUMN_STRIDE]
                out_columns -= 1
            window_top += p[_ROW_STRIDE]
            out_rows -= 1
        plane += p[_ROWS] * columns
        planes -= 1
