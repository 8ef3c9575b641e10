"""Patch of a deformable convolution. Plain form.

x holds float32, the channels of the group from x_start on. w is (offset, mask). out gets float32,
the patch (channels, kernel_rows, kernel_columns).
"""

# Parameters of deformed_patch
_X_START = 0  # where the group's first channel begins [elements] 0..
_CHANNEL = 1  # the group's first channel in the image [channels] 0..
_CHANNELS = const(2)  # of the group [elements] 0..
_ROWS = 3  # of x [elements] 0..
_COLUMNS = 4  # of x [elements] 0..
_KERNEL_ROWS = const(5)  # [elements] 0..
_KERNEL_COLUMNS = const(6)  # [elements] 0..
_ROW_DILATION = const(7)  # [elements] 0..
_COLUMN_DILATION = const(8)  # [elements] 0..
_CORNER_ROW = 9  # of x at the patch's corner [elements]
_CORNER_COLUMN = 10  # of x at the patch's corner [elements]
_MASK_START = 11  # start of the image's mask, plus the position [elements] 0..
_TAP_STRIDE = 12  # from tap to tap in mask: output positions [elements] 1..
_CHANNELS_PER_OFFSET = const(13)  # channels that share offsets and mask [channels] 0..
_HAS_MASK = 14  # [flag] 0, 1


def deformed_patch(x, w, out, p):
    """Write a patch.

    The first of a tap's two offsets lies at 2 * (index of the tap in mask - position) + position.

    Access:
        taps, position = kernel_rows * kernel_columns, mask_start % tap_stride
        first = channel // max(channels_per_offset, 1)
        last = (channel + channels - 1) // max(channels_per_offset, 1)
        low = mask_start + first * taps * tap_stride
        high = mask_start + (last * taps + taps - 1) * tap_stride + 1
        reads x as float32[x_start : x_start + channels * rows * columns] if taps
        reads w[0 : 2]
        reads w[0][2 * low - position : 2 * high + tap_stride - position - 1]
            if taps and channels
        reads w[1][low : high] if taps and channels and has_mask
        writes out as float32[0 : channels * taps]
    """
    offset, mask = w
    plane, taps = p[_TAP_STRIDE], p[_KERNEL_ROWS] * p[_KERNEL_COLUMNS]
    position = p[_MASK_START] % plane
    n = channel = 0
    while channel < p[_CHANNELS]:
        first = (
            p[_MASK_START]
            - position
            + (p[_CHANNEL] + channel) // p[_CHANNELS_PER_OFFSET] * taps * plane
        )
        base = p[_X_START] + channel * p[_ROWS] * p[_COLUMNS]
        tap = 0
        while tap < taps:
            i = first + tap * plane
            row = (
                p[_CORNER_ROW]
                + tap // p[_KERNEL_COLUMNS] * p[_ROW_DILATION]
                + offset[2 * i + position]
            )
            column = (
                p[_CORNER_COLUMN]
                + tap % p[_KERNEL_COLUMNS] * p[_COLUMN_DILATION]
                + offset[2 * i + plane + position]
            )
            v = bilinear(x, base, p[_ROWS], p[_COLUMNS], row, column)
            out[n] = v * mask[i + position] if p[_HAS_MASK] else v
            n += 1
            tap += 1
        channel += 1


def bilinear(x, base, rows, columns, row, column):
    """Return the plane of x that starts at base, sampled at (row, column).

    A sample outside of the plane, or at NaN, is 0.
    """
    if not (-1.0 < row < rows and -1.0 < column < columns):
        return 0.0
    x_row, x_column = int(row // 1), int(column // 1)
    row_rest, column_rest = row - x_row, column - x_column
    total = 0.0
    i = base + x_row * columns + x_column
    if x_row >= 0:
        if x_column >= 0:
            total += (1.0 - row_rest) * (1.0 - column_rest) * x[i]
        if x_column + 1 < columns:
            total += (1.0 - row_rest) * column_rest * x[i + 1]
    if x_row + 1 < rows:
        if x_column >= 0:
            total += row_rest * (1.0 - column_rest) * x[i + columns]
        if x_column + 1 < columns:
            total += row_rest * column_rest * x[i + columns + 1]
    return total
