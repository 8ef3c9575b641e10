"""Depthwise convolution of bytes with requantization, the inner loop of qdepthwise. Plain form.

x begins with working memory of kernel_rows * kernel_columns int32, aligned; from x_start on,
padded planes of unsigned bytes follow. The window of an output starts at its plane + row *
out_row_step + column * out_column_step; element (row, column) of the kernel lies at row *
kernel_row_step + column * kernel_column_step from there. w holds the weights of each channel,
contiguous. The table, in w or x, has two words for each channel: see loops/qdot. out gets a byte
for each channel and position, at out_start + channel * out_channel_stride + position *
out_position_stride:

    sum = the sum of window * (weights - w_zero_point)
    out = sum, requantized by the table as in loops/qdot, + out_zero_point, clipped to low .. high

depthwise33 is for 3 x 3 kernels whose columns are contiguous in x, depthwise_dense for 2 to 8
contiguous columns. Tuned forms are faster for these. They keep the differences weights -
w_zero_point of a channel in the working memory.
"""

from .qdot import scaled

# Parameters of depthwise8, depthwise33, depthwise_dense
_X_START = const(0)  # start of the first plane [bytes] 0..
_X_PLANE_STRIDE = 1  # from plane to plane of x [bytes] 0..
_PLANES = 2  # [planes] 1..
_DEPTH_MULTIPLIER = 3  # channels of out per plane [channels] 1..
_KERNEL_ROWS = 4  # [elements] 1..
_KERNEL_COLUMNS = 5  # [elements] 1..
_KERNEL_ROW_STEP = const(6)  # from row to row of the kernel in x [bytes] 0..
_KERNEL_COLUMN_STEP = 7  # from column to column of the kernel in x [bytes] 0..
_OUT_ROWS = 8  # [elements] 1..
_OUT_COLUMNS = 9  # [elements] 1..
_OUT_ROW_STEP = const(10)  # from row to row of out in x [bytes] 0..
_OUT_COLUMN_STEP = const(11)  # from column to column of out in x [bytes] 1..
_TABLE_START = const(12)  # start of the table [bytes] 0..
_W_START = const(13)  # start of the weights [bytes] 0..
_OUT_START = const(14)  # [elements] 0..
_OUT_CHANNEL_STRIDE = 15  # from channel to channel of out [elements] 0..
_OUT_POSITION_STRIDE = 16  # from position to position of out [elements] 0..
_W_ZERO_POINT = const(17)  # [value] 0..255
_OUT_ZERO_POINT = const(18)  # [value, BIAS] -128..255
_LOW = const(19)  # of out [value, BIAS] -128..255
_HIGH = const(20)  # of out [value, BIAS] -128..255
_IS_TABLE_IN_X = 21  # the table lies in x, not in w [flag] 0, 1

BIAS = 1 << 29


def depthwise8(x, w, out, p):
    """Compute planes of a depthwise convolution.

    Access:
        n, positions = planes * depth_multiplier, out_rows * out_columns
        corner = (out_rows - 1) * out_row_step + (out_columns - 1) * out_column_step
        window = (kernel_rows - 1) * kernel_row_step + (kernel_columns - 1) * kernel_column_step
        last = (n - 1) * out_channel_stride + (positions - 1) * out_position_stride
        writes x as uint8[0 : 4 * kernel_rows * kernel_columns]
        reads x as uint8[x_start : x_start + (planes - 1) * x_plane_stride + corner + window + 1]
        reads x as uint8[table_start : table_start + 8 * n] if is_table_in_x
        reads w as uint8[table_start : table_start + 8 * n] if not is_table_in_x
        reads w as uint8[w_start : w_start + n * kernel_rows * kernel_columns]
        writes out as uint8[out_start : out_start + last + 1]
        given apart((positions, out_position_stride), (n, out_channel_stride))
    """
    channel = 0
    while channel < p[_PLANES] * p[_DEPTH_MULTIPLIER]:
        plane = p[_X_START] + channel // p[_DEPTH_MULTIPLIER] * p[_X_PLANE_STRIDE]
        at = p[_OUT_START] + channel * p[_OUT_CHANNEL_STRIDE]
        row = 0
        while row < p[_OUT_ROWS]:
            _row(x, w, out, p, plane + row * p[_OUT_ROW_STEP], at, channel)
            at += p[_OUT_COLUMNS] * p[_OUT_POSITION_STRIDE]
            row += 1
        channel += 1


def depthwise33(x, w, out, p):
    """Compute a depthwise convolution with a 3 x 3 kernel.

    Access:
        requires kernel_rows == 3 and kernel_columns == 3 and kernel_column_step == 1
        as depthwise8
    """
    depthwise8(x, w, out, p)


def depthwise_dense(x, w, out, p):
    """Compute a depthwise convolution with 2 to 8 contiguous kernel columns.

    Access:
        requires 1 < kernel_columns < 9 and kernel_column_step == 1
        as depthwise8
    """
    depthwise8(x, w, out, p)


def _row(x, w, out, p, i, at, channel):
    words = p[_TABLE_START] + 8 * channel
    table = x if p[_IS_TABLE_IN_X] else w
    n = p[_OUT_COLUMNS]
    while n:
        v = scaled(_window(x, w, p, i, channel), table, words) + p[_OUT_ZERO_POINT] - BIAS
        out[at] = min(max(v, p[_LOW] - BIAS), p[_HIGH] - BIAS) & 255
        at += p[_OUT_POSITION_STRIDE]
        i += p[_OUT_COLUMN_STEP]
        n -= 1


def _window(x, w, p, row, channel):
    total = 0
    j = p[_W_START] + channel * p[_KERNEL_ROWS] * p[_KERNEL_COLUMNS]
    rows = p[_KERNEL_ROWS]
    while rows:
        i = row
        end = j + p[_KERNEL_COLUMNS]
        while j < end:
            total += x[i] * (w[j] - p[_W_ZERO_POINT])
            i += p[_KERNEL_COLUMN_STEP]
            j += 1
        row += p[_KERNEL_ROW_STEP]
        rows -= 1
    return total
