"""Rows of a matrix product in block floating point, by calls of loops/block, dots and finish.

A row of x becomes mantissas, then sums with some rows of weights at a time. The driver is machine
code, since bytecode between the calls would take longer than they do. Batches have two axes, outer
and inner. The blocks of the called loops are parts of the driver's block, into which peak writes
the exponent of a row. A row with inf or NaN is left to loops/block_special.
"""

from ._words import set_at

# Parameters of products
_ROW_START = 0  # first row, then the one that is computed [rows] 0..
_ROW_END = 1  # end, exclusive [rows] 0..
_ROWS = 2  # of a batch of x [rows] 1..
_COLUMNS = 3  # of a row of x and of w [elements] 0..65535
_CHANNELS = 4  # rows of a batch of w [channels] 1..
_CHANNELS_AT_ONCE = const(5)  # channels whose sums are in the scratch at once [channels] 1..64
_INNER_BATCHES = 6  # [batches] 1..
_X_OUTER_STRIDE = 7  # of x, from outer to outer batch [batches] 0..
_X_INNER_STRIDE = 8  # of x, from inner to inner batch [batches] 0..
_W_OUTER_STRIDE = 9  # of w, from outer to outer batch [batches] 0..
_W_INNER_STRIDE = 10  # of w, from inner to inner batch [batches] 0..
_W_START = 11  # [elements] 0..
_W_ROW_STRIDE = 12  # from row to row of w [elements] 0..
_BIAS_START = 13  # [elements] 0..
_EXPONENT_START = 14  # of w [bytes] 0..
_EXPONENT_OFFSET = 15  # added to the exponent [exponent] 0..15
_EXPONENT = 16  # biased, of the row of x; 255: inf or NaN [exponent] 0..255
_X_START = 17  # of the first batch [elements] 0..
_W_ROW = 18  # of the first batch [rows] 0..
_OUT_START = 19  # of the first batch [elements] 0..
_PEAK_X_START = 20  # [elements] 0..
_PEAK_ELEMENTS = const(21)  # [elements] 0..
_PEAK_OUT_START = const(22)  # index of exponent in this block [words] 16
_MANTISSAS_X_START = 23  # [elements] 0..
_MANTISSAS_CHANNELS = const(24)  # of x [channels] 0..
_MANTISSAS_DEPTH = const(25)  # of x [elements] 0..
_MANTISSAS_ROWS = const(26)  # of x [elements] 0..
_MANTISSAS_COLUMNS = const(27)  # of x [elements] 0..
_MANTISSAS_KERNEL_DEPTH = const(28)  # [elements] 1..
_MANTISSAS_KERNEL_ROWS = const(29)  # [elements] 1..
_MANTISSAS_DEPTH_DILATION = const(30)  # [elements] 0..
_MANTISSAS_ROW_DILATION = const(31)  # [elements] 0..
_MANTISSAS_CORNER_DEPTH = const(32)  # plane of x at the kernel's corner [elements, BIAS]
_MANTISSAS_CORNER_ROW = const(33)  # row of x at the first row's corner [elements, BIAS]
_MANTISSAS_CORNER_COLUMN = const(34)  # column of x at the first position's corner [elements, BIAS]
_MANTISSAS_OUT_ROWS = const(35)  # [rows] 1..
_MANTISSAS_ROW_STRIDE = const(36)  # of rows of out [elements] 1..
_MANTISSAS_POSITIONS = const(37)  # in a row of out; 1 if they share columns [positions] 1..
_MANTISSAS_COLUMN_STRIDE = const(38)  # of positions [elements] 0..
_MANTISSAS_KERNEL_COLUMNS = const(39)  # columns of x at a position [elements] 0..
_MANTISSAS_COLUMN_DILATION = const(40)  # [elements] 0..
_MANTISSAS_OUT_ROW_STRIDE = const(41)  # from row to row of out [columns] 0..
_MANTISSAS_OUT_START = const(42)  # [elements] 0..
_MANTISSAS_EXPONENT = const(43)  # E of the block [exponent] 1..269
_ALIGN_X_START = 44  # [elements] 0..
_ALIGN_X_STRIDE = 45  # from bias to bias; 0: none [elements] 0..
_ALIGN_W_START = const(46)  # index of the first exponent [bytes] 0..
_ALIGN_W_STRIDE = 47  # from exponent to exponent [bytes] 1..
_ALIGN_CHANNELS = const(48)  # [channels] 0..
_ALIGN_OUT_START = const(49)  # [elements] 0..
_ALIGN_EXPONENT = const(50)  # E of x, to which the exponents in w are added [exponent] 0..270
_DOTS_X_START = 51  # [elements] 0..
_DOTS_ROWS = const(52)  # of x [rows] 1..
_DOTS_X_ROW_STRIDE = const(53)  # from row to row of x [elements] 0..
_DOTS_COLUMNS = const(54)  # of a row of x and of w [elements] 0..65535
_DOTS_W_START = const(55)  # [elements] 0..
_DOTS_CHANNELS = const(56)  # rows of w [channels] 0..
_DOTS_OUT_START = const(57)  # [elements] 0..
_DOTS_BITS = const(58)  # bits of a weight; 0: short mantissas [bits] 0, 4, 8, 16, 24
_FINISH_X_START = 59  # [elements] 0..
_FINISH_POSITIONS = const(60)  # in a row [positions] 1..
_FINISH_CHANNELS = const(61)  # [channels] 0..
_FINISH_W_START = const(62)  # [elements] 0..
_FINISH_OUT_START = const(63)  # [elements] 0..
_FINISH_OUT_POSITION_STRIDE = const(64)  # of a row [elements] 0..
_FINISH_OUT_CHANNEL_STRIDE = const(65)  # [elements] 0..
_FINISH_OUT_ROW_STRIDE = const(66)  # [elements] 0..
_FINISH_ROWS = const(67)  # [rows] 1..
_FINISH_SKIPPED_POSITIONS = const(68)  # of x between two rows, not computed [positions] 0..
_FINISH_IS_LOW_NEGATIVE = const(69)  # [flag] 0, 1
_FINISH_LOW = const(70)  # magnitude of the least result [float bits] 0..2**31 - 1
_FINISH_IS_HIGH_NEGATIVE = const(71)  # [flag] 0, 1
_FINISH_HIGH = const(72)  # magnitude of the greatest result [float bits] 0..2**31 - 1
_FINISH_IS_MAXIMUM = const(73)  # keep the larger of out and the result [flag] 0, 1


def products(p: ptr32, w):
    """Compute rows row_start to row_end - 1. w as for block_pieces, then peak and its part of p.

    Access: of the loops it calls
    """
    mantissas, align, dots, finish, special, whole_p = w[:6]
    mantissas_p, align_p, dots_p, finish_p, x = w[6:11]
    weights, bias, exponents, scratch, out = w[11:16]
    peak, peak_p, aligned = w[16], w[17], 0 - 1
    first_row = p[_ROW_START]
    while p[_ROW_START] < p[_ROW_END]:
        batch = p[_ROW_START] // p[_ROWS]
        row = (
            batch // p[_INNER_BATCHES] * p[_X_OUTER_STRIDE]
            + batch % p[_INNER_BATCHES] * p[_X_INNER_STRIDE]
        ) * p[_ROWS] + p[_ROW_START] % p[_ROWS]
        i = set_at(p, _PEAK_X_START, p[_X_START] + row * p[_COLUMNS])
        peak(x, x, whole_p, peak_p)
        exponent = p[_EXPONENT]
        if exponent == 255:
            special(whole_p, w)
            i = set_at(p, _ROW_START, p[_ROW_START] + 1)
            continue
        exponent = max(exponent, 1)
        exponent += p[_EXPONENT_OFFSET]
        i = set_at(p, _MANTISSAS_X_START, p[_PEAK_X_START])
        if p[_ALIGN_EXPONENT] != exponent:
            aligned = 0 - 1
        i = set_at(p, _MANTISSAS_EXPONENT, exponent)
        i = set_at(p, _ALIGN_EXPONENT, exponent)
        mantissas(x, x, scratch, mantissas_p)
        row = (
            p[_W_ROW]
            + (
                batch // p[_INNER_BATCHES] * p[_W_OUTER_STRIDE]
                + batch % p[_INNER_BATCHES] * p[_W_INNER_STRIDE]
            )
            * p[_CHANNELS]
        )
        end, at = row + p[_CHANNELS], p[_OUT_START] + p[_ROW_START] * p[_CHANNELS]
        while row < end:
            channels = min(end - row, p[_CHANNELS_AT_ONCE])
            if row != aligned:  # the initial sums differ from those of the row before
                aligned = row
                i = set_at(p, _ALIGN_X_START, p[_BIAS_START] + row * p[_ALIGN_X_STRIDE])
                p[i + (_ALIGN_W_START - _ALIGN_X_START)] = (
                    p[_EXPONENT_START] + row * p[_ALIGN_W_STRIDE]
                )
                p[i + (_ALIGN_CHANNELS - _ALIGN_X_START)] = channels
                align(bias, exponents, scratch, align_p)
            i = set_at(p, _DOTS_W_START, p[_W_START] + row * p[_W_ROW_STRIDE])
            p[i + (_DOTS_CHANNELS - _DOTS_W_START)] = channels
            i = set_at(p, _FINISH_CHANNELS, channels)
            p[i + (_FINISH_OUT_START - _FINISH_CHANNELS)] = at
            dots(scratch, weights, scratch, dots_p)
            finish(scratch, scratch, out, finish_p)
            at += channels
            row += channels
        i = set_at(p, _ROW_START, p[_ROW_START] + 1)
    i = set_at(p, _ROW_START, first_row)
