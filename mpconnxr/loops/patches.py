"""im2col of bytes: patches of several output positions, contiguous.

x holds one image: element (channel, row, column) lies at x_start + channel * x_channel_stride +
row * x_row_stride + column * x_column_stride. out gets a record for each position: the sum of the
patch (4 bytes, below 2**24), its channels * kernel_rows * kernel_columns bytes, and record_padding
zeros, which make its length a multiple of 4. w is not used.

Signed bytes become unsigned by flip. Elements outside of the image are the padding: a number, or a
byte of out.
"""

from ._bytes import next_place

# Parameters of patches
_X_START = 0  # start of the image [bytes] 0..
_CHANNELS = 1  # [channels] 0..
_KERNEL_ROWS = const(2)  # [elements] 0..
_KERNEL_COLUMNS = 3  # [elements] 0..
_X_CHANNEL_STRIDE = const(4)  # from channel to channel of x [bytes] 0..
_KERNEL_ROW_STEP = const(5)  # from row to row of the kernel in x [bytes] 0..
_KERNEL_COLUMN_STEP = 6  # from column to column of the kernel in x [bytes] 0..
_ROWS = const(7)  # of x [elements] 1..
_COLUMNS = const(8)  # of x [elements] 1..
_ROW_DILATION = const(9)  # [elements] 0..
_COLUMN_DILATION = 10  # [elements] 0..
_ROW_STRIDE = const(11)  # of positions [elements] 1..
_COLUMN_STRIDE = 12  # of positions [elements] 1..
_X_ROW_STRIDE = const(13)  # from row to row of x [bytes] 0..
_X_COLUMN_STRIDE = 14  # from column to column of x [bytes] 0..
_OUT_COLUMNS = const(15)  # positions in a row of the output [elements] 1..
_ROW = const(16)  # of the first position [elements] 0..
_COLUMN = 17  # of the first position, from column 0 of `row`, maybe past its end [elements] 0..
_FLIP = const(18)  # 128 where x is signed [mask] 0, 128
_PADDING = const(19)  # an element outside of x, unsigned [value] 0..255
_POSITIONS = const(20)  # [positions] 0..
_RECORD_PADDING = const(21)  # zeros behind a patch [bytes] 0..3
_CORNER_ROW = const(22)  # row of x at the corner of row 0 [elements, BIAS]
_CORNER_COLUMN = const(23)  # column of x at the corner of column 0 [elements, BIAS]
_ZERO_START = const(24)  # offset in out of the padding; 0: use `padding` [bytes] 0..


def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Write the records of positions.

    Access:
        patch = channels * kernel_rows * kernel_columns
        last = ((channels - 1) * x_channel_stride + (rows - 1) * x_row_stride
            + (columns - 1) * x_column_stride)
        slack = ((kernel_rows - 1) * (kernel_row_step - row_dilation * x_row_stride),
            (kernel_columns - 1) * (kernel_column_step - column_dilation * x_column_stride))
        reads x[x_start + sum(min(v, 0) for v in slack)
            : x_start + last + sum(max(v, 0) for v in slack) + 1] if patch and positions
        writes out[0 : positions * (4 + patch + record_padding)]
        reads out[zero_start : zero_start + 1] if zero_start
    """
    bias, n, flip, padding = 1 << 29, 0, p[_FLIP], p[_PADDING]
    if p[_ZERO_START]:
        padding = out[p[_ZERO_START]]
    row, column = p[_ROW], p[_COLUMN]
    while column >= p[_OUT_COLUMNS]:
        column -= p[_OUT_COLUMNS]
        row += 1
    for left in range(p[_POSITIONS], 0, -1):
        corner_row = p[_CORNER_ROW] + row * p[_ROW_STRIDE]
        corner_column = p[_CORNER_COLUMN] + column * p[_COLUMN_STRIDE]
        corner = (
            p[_X_START]
            + (corner_row - bias) * p[_X_ROW_STRIDE]
            + (corner_column - bias) * p[_X_COLUMN_STRIDE]
        )
        last_row = corner_row + (p[_KERNEL_ROWS] - 1) * p[_ROW_DILATION] - bias
        last_column = corner_column + (p[_KERNEL_COLUMNS] - 1) * p[_COLUMN_DILATION] - bias
        is_within = (
            corner_row >= bias
            and last_row < p[_ROWS]
            and corner_column >= bias
            and last_column < p[_COLUMNS]
        )
        record = n
        n += 4
        total = 0
        for channel in range(p[_CHANNELS]):
            row_start, x_row = corner + channel * p[_X_CHANNEL_STRIDE], corner_row
            for kernel_row in range(p[_KERNEL_ROWS]):
                i, end = row_start, n + p[_KERNEL_COLUMNS]
                if is_within:
                    while n < end:
                        v = x[i] ^ flip
                        out[n] = v
                        total += v
                        i += p[_KERNEL_COLUMN_STEP]
                        n += 1
                else:
                    is_covered = x_row >= bias and x_row < bias + p[_ROWS]
                    x_column = corner_column
                    while n < end:
                        v = padding
                        if is_covered and x_column >= bias and x_column < bias + p[_COLUMNS]:
                            v = x[i] ^ flip
                        out[n] = v
                        total += v
                        i += p[_KERNEL_COLUMN_STEP]
                        x_column += p[_COLUMN_DILATION]
                        n += 1
                row_start += p[_KERNEL_ROW_STEP]
                x_row += p[_ROW_DILATION]
        out[record] = total & 255
        out[record + 1] = (total >> 8) & 255
        out[record + 2] = total >> 16
        out[record + 3] = 0
        end = n + p[_RECORD_PADDING]
        while n < end:
            out[n] = 0
            n += 1
        column, row = next_place(column, row, p[_OUT_COLUMNS])
