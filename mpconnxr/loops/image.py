"""Pixels of a picture, sampled at fixed-point steps and converted by a table.

x holds the bytes of the picture, rows from the top, without padding. w holds int32: 256 entries
for each channel of the output. out gets the bytes of a tensor.
"""

from ._words import swap

# Parameters of pixels
_COLUMNS = const(0)  # of the picture [pixels] 1..8192
_COLUMN = const(1)  # of the first pixel of each row [pixels / 2**16] 0..2**29
_ROW = const(2)  # of the first pixel [pixels / 2**16] 0..2**29
_COLUMN_STEP = const(3)  # from pixel to pixel in the picture [pixels / 2**16] 0..2**29
_ROW_STEP = const(4)  # from row to row in the picture [pixels / 2**16] 0..2**29
_OUT_COLUMNS = const(5)  # [elements] 0..
_OUT_ROWS = const(6)  # [elements] 0..
_CHANNELS = const(7)  # of out [elements] 1, 3
_OUT_CHANNEL_STRIDE = const(8)  # from channel to channel of out [elements] 0..
_OUT_COLUMN_STRIDE = const(9)  # from column to column of out [elements] 0..
_OUT_ROW_STRIDE = const(10)  # from row to row of out [elements] 0..
_FORMAT = const(11)  # 0 gray, 1 RGB888, 2 RGB565, 3 RGB565 with the high byte first [code] 0..3
_IS_BGR = const(12)  # out has blue before red [flag] 0, 1
_BYTES_PER_ELEMENT = const(13)  # of out [bytes] 1, 4


def pixels(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Convert the pixels of a picture to a tensor.

    Access:
        pixels, nbytes = out_rows * out_columns, 1 if format == 0 else 3 if format == 1 else 2
        last_row = row + (out_rows - 1) * row_step
        last_column = column + (out_columns - 1) * column_step
        first = (row >> 16) * columns + (column >> 16)
        last = (last_row >> 16) * columns + (last_column >> 16)
        reads x[first * nbytes : (last + 1) * nbytes] if pixels
        reads w[0 : 256 * channels] if pixels
        out_last = ((out_rows - 1) * out_row_stride + (out_columns - 1) * out_column_stride
            + (channels - 1) * out_channel_stride)
        writes out[0 : (out_last + 1) * bytes_per_element] if pixels
        given apart((out_rows, out_row_stride), (out_columns, out_column_stride),
            (channels, out_channel_stride))
    """
    kind, size, row = p[_FORMAT], p[_BYTES_PER_ELEMENT], p[_ROW]
    for out_row in range(p[_OUT_ROWS]):
        start, column = (row >> 16) * p[_COLUMNS], p[_COLUMN]
        for out_column in range(p[_OUT_COLUMNS]):
            n = start + (column >> 16)
            if kind == 0:
                red = x[n]
                green = blue = red
            elif kind == 1:
                red, green, blue = x[3 * n], x[3 * n + 1], x[3 * n + 2]
            else:
                n = 2 * n
                swapped = kind - 2  # the high byte comes first
                word = x[n + swapped] | x[n + 1 - swapped] << 8
                red = word >> 11 << 3 | word >> 13
                green = (word >> 5 & 63) << 2 | (word >> 9 & 3)
                blue = (word & 31) << 3 | (word >> 2 & 7)
            if p[_CHANNELS] == 1:
                red = (77 * red + 150 * green + 29 * blue) >> 8
            elif p[_IS_BGR] == 1:
                red, blue, n = swap(red, blue)
            for channel in range(p[_CHANNELS]):
                if channel == 0:
                    value = w[red]
                elif channel == 1:
                    value = w[256 + green]
                else:
                    value = w[512 + blue]
                n = (
                    out_row * p[_OUT_ROW_STRIDE]
                    + out_column * p[_OUT_COLUMN_STRIDE]
                    + channel * p[_OUT_CHANNEL_STRIDE]
                ) * size
                k = n + size
                while n < k:
                    out[n] = value & 255
                    value >>= 8
                    n += 1
            column += p[_COLUMN_STEP]
        row += p[_ROW_STEP]
