"""Largest value of each window, on the bits of the elements, and its index.

x holds float32 bits or bytes, one plane (depth, rows, columns) from x_start on. out gets the same,
at out_start + i for each output column i from start to end - 1. w is not used.

A window that lies in the padding gives the least value. A NaN without a sign is the maximum. Call
the find loops afterwards: x as before, w the result of the max loop, out two words per index
(int64).
"""

from ._hints import inline

# Parameters of max_row32, max_row8, find_row32, find_row8
_X_START = 0  # start of the plane [elements] 0..
_DEPTH = const(1)  # of x [elements] 0..
_ROWS = const(2)  # of x [elements] 0..
_COLUMNS = const(3)  # of x [elements] 0..
_KERNEL_DEPTH = const(4)  # [elements] 1..
_KERNEL_ROWS = const(5)  # [elements] 1..
_KERNEL_COLUMNS = const(6)  # [elements] 1..
_DEPTH_DILATION = const(7)  # [elements] 1..
_ROW_DILATION = const(8)  # [elements] 1..
_COLUMN_DILATION = const(9)  # [elements] 1..
_CORNER_DEPTH = 10  # of x at the windows' corner [elements, BIAS]
_CORNER_ROW = 11  # of x at the windows' corner [elements, BIAS]
_COLUMN_PADDING = const(12)  # columns of the first window left of x [elements, BIAS]
_COLUMN_STRIDE = const(13)  # stride of windows [elements] 0..

# Parameters of max_row32, find_row32
_LEAST = const(14)  # bits of -inf [float bits] -8388608

# Parameters of max_row8, find_row8
_FLIP = const(14)  # 128 if x is signed [mask] 0, 128

# Parameters of max_row32, max_row8, find_row32, find_row8
_START = const(15)  # the first column of the output [elements] 0..
_END = const(16)  # end, exclusive [elements] 0..
_OUT_START = 17  # start of the row of the output [elements] 0..
_INDEX_DEPTH_STRIDE = const(18)  # change of an index from plane to plane of x [elements] 0..
_INDEX_ROW_STRIDE = const(19)  # change of an index from row to row of x [elements] 0..
_INDEX_COLUMN_STRIDE = const(20)  # change of an index from column to column of x [elements] 0..
_INDEX_START = 21  # index of the first element of x [elements] 0..


def max_row32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the maxima of a row of float32.

    Access:
        reads x[x_start : x_start + depth * rows * columns] if start < end
        writes out[out_start + start : out_start + end]
        given corner_depth < depth and corner_row < rows
        given (end - 1) * column_stride - column_padding < columns
    """
    bias = 1 << 29
    for column in range(p[_START], p[_END]):
        best = p[_LEAST]
        for kernel_plane in range(p[_KERNEL_DEPTH]):
            x_depth = p[_CORNER_DEPTH] + kernel_plane * p[_DEPTH_DILATION]
            for kernel_row in range(p[_KERNEL_ROWS]):
                x_row = p[_CORNER_ROW] + kernel_row * p[_ROW_DILATION]
                if (
                    x_depth >= bias
                    and x_depth < bias + p[_DEPTH]
                    and x_row >= bias
                    and x_row < bias + p[_ROWS]
                ):
                    row_start = (
                        p[_X_START] + ((x_depth - bias) * p[_ROWS] + x_row - bias) * p[_COLUMNS]
                    )
                    x_column = column * p[_COLUMN_STRIDE] + bias + bias - p[_COLUMN_PADDING]
                    for kernel_column in range(p[_KERNEL_COLUMNS]):
                        if x_column >= bias and x_column < bias + p[_COLUMNS]:
                            v = x[row_start + x_column - bias]
                            if (best >> 31) & 1:
                                if ((v >> 31) & 1) == 0 or v < best:
                                    best = v
                            elif ((v >> 31) & 1) == 0 and v > best:
                                best = v
                        x_column += p[_COLUMN_DILATION]
        out[p[_OUT_START] + column] = best


def max_row8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as max_row32"""
    bias = 1 << 29
    flip = p[_FLIP]  # maps the order of signed bytes to that of unsigned ones
    for column in range(p[_START], p[_END]):
        best = 0
        for kernel_plane in range(p[_KERNEL_DEPTH]):
            x_depth = p[_CORNER_DEPTH] + kernel_plane * p[_DEPTH_DILATION]
            for kernel_row in range(p[_KERNEL_ROWS]):
                x_row = p[_CORNER_ROW] + kernel_row * p[_ROW_DILATION]
                if (
                    x_depth >= bias
                    and x_depth < bias + p[_DEPTH]
                    and x_row >= bias
                    and x_row < bias + p[_ROWS]
                ):
                    row_start = (
                        p[_X_START] + ((x_depth - bias) * p[_ROWS] + x_row - bias) * p[_COLUMNS]
                    )
                    x_column = column * p[_COLUMN_STRIDE] + bias + bias - p[_COLUMN_PADDING]
                    for kernel_column in range(p[_KERNEL_COLUMNS]):
                        if x_column >= bias and x_column < bias + p[_COLUMNS]:
                            v = x[row_start + x_column - bias] ^ flip
                            best = max(v, best)
                        x_column += p[_COLUMN_DILATION]
        out[p[_OUT_START] + column] = best ^ flip


@inline
def _find_row(x, w, out, p):
    """Find the index of the first maximum of each window, in both loops."""
    bias = 1 << 29
    for column in range(p[_START], p[_END]):
        best, was_seen, at = w[p[_OUT_START] + column], 0, p[_INDEX_START]
        kernel_plane = 0
        while kernel_plane < p[_KERNEL_DEPTH] and was_seen == 0:
            x_depth, kernel_row = p[_CORNER_DEPTH] + kernel_plane * p[_DEPTH_DILATION], 0
            while kernel_row < p[_KERNEL_ROWS] and was_seen == 0:
                x_row = p[_CORNER_ROW] + kernel_row * p[_ROW_DILATION]
                if (
                    x_depth >= bias
                    and x_depth < bias + p[_DEPTH]
                    and x_row >= bias
                    and x_row < bias + p[_ROWS]
                ):
                    row_start = (
                        p[_X_START] + ((x_depth - bias) * p[_ROWS] + x_row - bias) * p[_COLUMNS]
                    )
                    x_column = column * p[_COLUMN_STRIDE] + bias + bias - p[_COLUMN_PADDING]
                    kernel_column = 0
                    while kernel_column < p[_KERNEL_COLUMNS] and was_seen == 0:
                        is_inside = x_column >= bias and x_column < bias + p[_COLUMNS]
                        if is_inside and x[row_start + x_column - bias] == best:
                            was_seen = 1
                            at += (
                                (x_depth - bias) * p[_INDEX_DEPTH_STRIDE]
                                + (x_row - bias) * p[_INDEX_ROW_STRIDE]
                                + (x_column - bias) * p[_INDEX_COLUMN_STRIDE]
                            )
                        x_column += p[_COLUMN_DILATION]
                        kernel_column += 1
                kernel_row += 1
            kernel_plane += 1
        k = (p[_OUT_START] + column) * 2
        out[k] = at
        k += 1
        out[k] = 0


def find_row32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the indices of a row of float32.

    Access:
        reads x[x_start : x_start + depth * rows * columns] if start < end
        reads w[out_start + start : out_start + end]
        writes out[2 * (out_start + start) : 2 * (out_start + end)]
        given corner_depth < depth and corner_row < rows
        given (end - 1) * column_stride - column_padding < columns
    """
    _find_row(x, w, out, p)


def find_row8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """Access: as find_row32"""
    _find_row(x, w, out, p)
