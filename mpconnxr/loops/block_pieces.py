"""Rows of a convolution in block floating point, by calls of loops/block, dots and finish.

The positions of a row are processed in chunks: some become columns of mantissas, then, for some
channels at a time, some of these positions become sums and results. This keeps the scratch small,
and the overhead of calls in machine code.

Word 0 of the scratch is the exponent E of the image's largest element, 255 for inf or NaN. The
blocks of the called loops are parts of the driver's block. Several rows at once are whole rows:
all their positions become sums at once, without pooling. An image with inf or NaN is left to
loops/block_special.
"""

from ._hints import far
from ._words import set_at

# Parameters of pieces
_MANTISSAS_X_START = 0  # start of the group [elements] 0..
_MANTISSAS_CHANNELS = 1  # of x [channels] 0..
_MANTISSAS_DEPTH = 2  # of x [elements] 0..
_MANTISSAS_ROWS = 3  # of x [elements] 0..
_MANTISSAS_COLUMNS = 4  # of x [elements] 0..
_MANTISSAS_KERNEL_DEPTH = 5  # [elements] 1..
_MANTISSAS_KERNEL_ROWS = 6  # [elements] 1..
_MANTISSAS_DEPTH_DILATION = 7  # [elements] 0..
_MANTISSAS_ROW_DILATION = 8  # [elements] 0..
_MANTISSAS_CORNER_DEPTH = 9  # plane of x at the kernel's corner [elements, BIAS]
_MANTISSAS_CORNER_ROW = const(10)  # row of x at the first row's corner [elements, BIAS]
_MANTISSAS_CORNER_COLUMN = const(11)  # column of x at the first position's corner [elements, BIAS]
_MANTISSAS_OUT_ROWS = const(12)  # [rows] 0..
_MANTISSAS_ROW_STRIDE = 13  # of rows of out [elements] 1..
_MANTISSAS_POSITIONS = 14  # in a row of out; 1 if they share columns [positions] 1..
_MANTISSAS_COLUMN_STRIDE = 15  # of positions [elements] 0..
_MANTISSAS_KERNEL_COLUMNS = 16  # columns of x at a position [elements] 0..
_MANTISSAS_COLUMN_DILATION = 17  # [elements] 0..
_MANTISSAS_OUT_ROW_STRIDE = const(18)  # from row to row of out [columns] 0..
_MANTISSAS_OUT_START = const(19)  # [elements] 0..
_MANTISSAS_EXPONENT = const(20)  # E plus exponent_offset [exponent] 1..269
_ALIGN_X_START = 21  # [elements] 0..
_ALIGN_X_STRIDE = const(22)  # from bias to bias; 0: none [elements] 0..
_ALIGN_W_START = const(23)  # index of the first exponent [bytes] 0..
_ALIGN_W_STRIDE = const(24)  # from exponent to exponent [bytes] 1..
_ALIGN_CHANNELS = const(25)  # [channels] 0..
_ALIGN_OUT_START = const(26)  # [elements] 0..
_ALIGN_EXPONENT = const(27)  # the same, to which the exponents in w are added [exponent] 0..270
_DOTS_X_START = 28  # [elements] 0..
_DOTS_ROWS = const(29)  # of x [rows] 0..
_DOTS_X_ROW_STRIDE = const(30)  # from row to row of x [elements] 0..
_DOTS_COLUMNS = 31  # of a row of x and of w [elements] 0..65535
_DOTS_W_START = const(32)  # [elements] 0..
_DOTS_CHANNELS = const(33)  # rows of w [channels] 0..
_DOTS_OUT_START = const(34)  # [elements] 0..
_DOTS_BITS = const(35)  # bits of a weight; 0: short mantissas [bits] 0, 4, 8, 16, 24
_FINISH_X_START = 36  # [elements] 0..
_FINISH_POSITIONS = const(37)  # in a row [positions] 0..
_FINISH_CHANNELS = const(38)  # [channels] 0..
_FINISH_W_START = const(39)  # [elements] 0..
_FINISH_OUT_START = const(40)  # [elements] 0..
_FINISH_OUT_POSITION_STRIDE = const(41)  # of a row [elements] 0..
_FINISH_OUT_CHANNEL_STRIDE = 42  # [elements] 0..
_FINISH_OUT_ROW_STRIDE = const(43)  # [elements] 0..
_FINISH_ROWS = const(44)  # [rows] 0..
_FINISH_SKIPPED_POSITIONS = const(45)  # between two rows, whose sums do not count [positions] 0..
_FINISH_IS_LOW_NEGATIVE = 46  # [flag] 0, 1
_FINISH_LOW = 47  # magnitude of the least result [float bits] 0..2**31 - 1
_FINISH_IS_HIGH_NEGATIVE = const(48)  # [flag] 0, 1
_FINISH_HIGH = const(49)  # magnitude of the greatest result [float bits] 0..2**31 - 1
_FINISH_IS_MAXIMUM = 50  # keep the larger of out and the result [flag] 0, 1
_ROW_START = 51  # first row of the plane before windows [rows] 0..
_ROW_END = 52  # end, exclusive [rows] 0..
_ROWS_AT_ONCE = const(53)  # [rows] 1..
_GROUPS = 54  # [groups] 1..
_CHANNELS = 55  # of out in a group [channels] 1..
_CHANNELS_AT_ONCE = const(56)  # channels whose sums are in the scratch at once [channels] 1..
_POSITIONS = 57  # of a row [positions] 1..
_POSITIONS_AT_ONCE = const(58)  # positions that become mantissas at once [positions] 1..
_SUMS_AT_ONCE = const(59)  # positions that become sums at once [positions] 1..
_CORNER_ROW = 60  # row of x at the corner of row 0 [elements, BIAS]
_CORNER_COLUMN = 61  # column of x at the corner of position 0 [elements, BIAS]
_X_GROUP_STRIDE = 62  # from group to group of x [elements] 0..
_W_ROW_STRIDE = 63  # from row to row of w [elements] 0..
_OUT_START = 64  # [elements] 0..
_OUT_ROW_STRIDE = 65  # [elements] 0..
_OUT_POSITION_STRIDE = 66  # [elements] 0..
_WINDOW_ROWS = 67  # of a max-pooling window [rows] 1..
_WINDOW_COLUMNS = 68  # of a max-pooling window [positions] 1..
_HAS_SHARED_COLUMNS = const(69)  # neighbouring positions share columns of mantissas [flag] 0, 1
_KERNEL_COLUMNS = 70  # [elements] 1..
_SKIPPED_POSITIONS = const(71)  # between two rows, whose sums do not count [positions] 0..
_X_START = 72  # of the image [elements] 0..
_POSITION_STRIDE = const(73)  # from position to position of mantissas [elements] 0..
_EXPONENT_OFFSET = const(74)  # added to E: 24 - b for short mantissas of b bits [exponent] 0..15


def pieces(p: ptr32, w):
    """Compute rows row_start to row_end - 1.

    w lists loops mantissas, align, dots, finish and the rare loop for inf and NaN; p; the parts of
    p for the first four loops; x, weights, biases, exponents, scratch, out.

    Access: of the loops it calls
    """
    mantissas, align, dots, finish, special, whole_p = w[:6]
    mantissas_p, align_p, dots_p, finish_p, x = w[6:11]
    weights, bias, exponents, scratch, out = w[11:16]
    aligned, row, exponent = 0 - 1, p[_ROW_START], int(scratch[0])
    if exponent == 255:
        special(whole_p, w)
        row = p[_ROW_END]
    exponent = max(exponent, 1)
    i = set_at(p, _MANTISSAS_EXPONENT, exponent + p[_EXPONENT_OFFSET])
    i = set_at(p, _ALIGN_EXPONENT, exponent + p[_EXPONENT_OFFSET])
    while far(row < p[_ROW_END]):
        i = set_at(p, _MANTISSAS_OUT_ROWS, p[_ROWS_AT_ONCE])
        if p[_MANTISSAS_OUT_ROWS] > p[_ROW_END] - row:
            p[i] = p[_ROW_END] - row
        i = set_at(p, _MANTISSAS_CORNER_ROW, p[_CORNER_ROW] + row * p[_MANTISSAS_ROW_STRIDE])
        i = set_at(p, _MANTISSAS_X_START, p[_X_START])
        group = 0
        while group < p[_GROUPS]:
            position = 0
            while position < p[_POSITIONS]:
                positions = min(p[_POSITIONS_AT_ONCE], p[_POSITIONS] - position)
                i = set_at(
                    p,
                    _MANTISSAS_CORNER_COLUMN,
                    p[_CORNER_COLUMN] + position * p[_MANTISSAS_COLUMN_STRIDE],
                )
                if p[_HAS_SHARED_COLUMNS] == 0:
                    i = set_at(p, _MANTISSAS_POSITIONS, positions)
                else:
                    i = set_at(
                        p,
                        _MANTISSAS_KERNEL_COLUMNS,
                        (positions - 1) * p[_MANTISSAS_COLUMN_STRIDE] + p[_KERNEL_COLUMNS],
                    )
                    if p[_MANTISSAS_OUT_ROWS] > 1:
                        p[i] = p[_MANTISSAS_OUT_ROW_STRIDE]
                mantissas(x, x, scratch, mantissas_p)
                channel = group * p[_CHANNELS]
                end = channel + p[_CHANNELS]
                while channel < end:
                    channels = min(p[_CHANNELS_AT_ONCE], end - channel)
                    i = set_at(p, _DOTS_CHANNELS, channels)
                    i = set_at(p, _FINISH_CHANNELS, channels)
                    if channel != aligned:
                        aligned = channel
                        i = set_at(p, _ALIGN_X_START, channel)
                        i = set_at(p, _ALIGN_W_START, channel)
                        i = set_at(p, _ALIGN_CHANNELS, channels)
                        align(bias, exponents, scratch, align_p)
                    i = set_at(p, _DOTS_W_START, channel * p[_W_ROW_STRIDE])
                    computed = 0
                    while computed < positions:
                        i = set_at(
                            p,
                            _DOTS_X_START,
                            p[_MANTISSAS_OUT_START] + computed * p[_POSITION_STRIDE],
                        )
                        some = min(p[_SUMS_AT_ONCE], positions - computed)
                        i = set_at(
                            p,
                            _DOTS_ROWS,
                            (some + p[_SKIPPED_POSITIONS]) * p[_MANTISSAS_OUT_ROWS]
                            - p[_SKIPPED_POSITIONS],
                        )
                        i = set_at(p, _FINISH_POSITIONS, some)
                        if p[_WINDOW_COLUMNS] > 1 and some > p[_WINDOW_COLUMNS]:
                            p[i] = p[_WINDOW_COLUMNS]
                        i = set_at(
                            p, _FINISH_ROWS, some // p[_FINISH_POSITIONS] * p[_MANTISSAS_OUT_ROWS]
                        )
                        i = set_at(
                            p,
                            _FINISH_OUT_START,
                            p[_OUT_START]
                            + channel * p[_FINISH_OUT_CHANNEL_STRIDE]
                            + row // p[_WINDOW_ROWS] * p[_OUT_ROW_STRIDE],
                        )
                        p[i] = (
                            p[_FINISH_OUT_START]
                            + (position + computed) // p[_WINDOW_COLUMNS] * p[_OUT_POSITION_STRIDE]
                        )
                        dots(scratch, weights, scratch, dots_p)
                        finish(scratch, scratch, out, finish_p)
                        computed += some
                    channel += channels
                position += positions
            i = set_at(p, _MANTISSAS_X_START, p[_MANTISSAS_X_START] + p[_X_GROUP_STRIDE])
            group += 1
        row += p[_MANTISSAS_OUT_ROWS]
