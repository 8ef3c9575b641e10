"""im2col of float32 for one output position.

x holds float32 as words: the channels (planes, rows, columns) of a group start at x_start. out
gets the patch (channels, kernel_planes, kernel_rows, kernel_columns), with 0 outside of the image.
w is not read.
"""

# Parameters of im2col32
_X_START = 0  # start of the group's first channel [elements] 0..
_CHANNELS = const(1)  # of the group [channels] 0..
_PLANES = const(2)  # of x [elements] 0..
_ROWS = const(3)  # of x [elements] 0..
_COLUMNS = const(4)  # of x [elements] 0..
_KERNEL_PLANES = const(5)  # [elements] 1..
_KERNEL_ROWS = const(6)  # [elements] 1..
_KERNEL_COLUMNS = const(7)  # [elements] 1..
_PLANE_DILATION = const(8)  # [elements] 0..
_ROW_DILATION = const(9)  # [elements] 0..
_COLUMN_DILATION = const(10)  # [elements] 0..
_CORNER_PLANE = 11  # plane of x at the patch's corner [elements, BIAS]
_CORNER_ROW = 12  # [elements, BIAS]
_CORNER_COLUMN = 13  # [elements, BIAS]


def im2col32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write a patch.

    Access:
        reads x[x_start : x_start + channels * planes * rows * columns]
        writes out[0 : channels * kernel_planes * kernel_rows * kernel_columns]
    """
    bias, n, rows = 1 << 29, 0, p[_ROWS]
    columns, kernel_columns, dilation = p[_COLUMNS], p[_KERNEL_COLUMNS], p[_COLUMN_DILATION]
    for channel in range(p[_CHANNELS]):
        for kernel_plane in range(p[_KERNEL_PLANES]):
            plane = p[_CORNER_PLANE] + kernel_plane * p[_PLANE_DILATION]
            for kernel_row in range(p[_KERNEL_ROWS]):
                row, end = p[_CORNER_ROW] + kernel_row * p[_ROW_DILATION], n + kernel_columns
                if (
                    plane >= bias
                    and plane < bias + p[_PLANES]
                    and row >= bias
                    and row < bias + rows
                ):
                    row_start = (
                        p[_X_START]
                        + ((channel * p[_PLANES] + plane - bias) * rows + row - bias) * columns
                        - bias
                    )
                    column = p[_CORNER_COLUMN]
                    while n < end:
                        if column >= bias and column < bias + columns:
                            out[n] = x[row_start + column]
                        else:
                            out[n] = 0
                        column += dilation
                        n += 1
                else:
                    while n < end:
                        out[n] = 0
                        n += 1
