"""Convolution of float32 in the FPU: see ops/_block_vfp. In viper.

Weights are mantissas of loops/block; x and sums are floats. Assembler provides consts and strips
(see loops/vfp/fpu_strips) and sums, the convolution (see loops/vfp/fpu_sums). rows and points call
them for units of a convolution; the blocks of the called loops are parts of the driver's block.
"""

import micropython

# Parameters of rows, points
_START = const(0)  # first unit [units] 0..
_END = const(1)  # end, exclusive [units] 0..
_CHUNKS = const(2)  # of rows of a plane, or of its positions [chunks] 1..
_CHUNK_ROWS = const(3)  # not used by points [rows] 0..
_GROUP_CHUNKS = const(4)  # of groups of an image; not used by points [chunks] 0..
_CHUNK_GROUPS = const(5)  # not used by points [groups] 0..
_GROUPS = const(6)  # [groups] 1..
_CHANNELS = const(7)  # of x in a group [channels] 1..
_X_GROUP_STRIDE = const(8)  # [elements] 0..
_W_GROUP_STRIDE = const(9)  # [bytes] 0..
_OUT_CHANNELS = const(10)  # in a group [channels] 1..
_OUT_START = const(11)  # [elements] 0..
_OUT_IMAGE_STRIDE = const(12)  # [elements] 0..
_OUT_CHANNEL_STRIDE = const(13)  # [elements] 0..
_OUT_ROW_STRIDE = const(14)  # [elements] 0..
_OUT_POSITION_STRIDE = const(15)  # [elements] 0..
_ROWS_AT_ONCE = const(16)  # [rows] 0..
_ROWS = const(17)  # of the plane before windows [rows] 0..
_ROW_STRIDE = const(18)  # of rows [elements] 0..
_CORNER_ROW = const(19)  # row of x at the corner of row 0 [elements, BIAS]
_WINDOW_ROWS = const(20)  # of a max-pooling window [rows] 0..
_COVERED_ROWS = const(21)  # rows of x that an output row covers [rows] 0..
_SCRATCH_ROW_STRIDE = const(22)  # from row to row of x in the scratch [bytes] 0..
_POSITIONS = const(23)  # of a row, or of the plane [positions] 1..
_POSITIONS_AT_ONCE = const(24)  # [positions] 1..
_COLUMN_STRIDE = const(25)  # of positions [elements] 0..
_CORNER_COLUMN = const(26)  # column of x at the corner of position 0 [elements, BIAS]
_CONSTS_START = const(27)  # of the first channel, in the block of sums [bytes] 0..
_CONSTS_W_START = const(28)  # first channel [channels] 0..
_CONSTS_CHANNELS = const(29)  # [channels] 1..
_CONSTS_OUT_START = const(30)  # in the block of sums [words] 0..
_CONSTS_HAS_BIAS = const(31)  # [flag] 0..1
_STRIPS_X_START = const(32)  # [elements] 0..
_STRIPS_PLANES = const(33)  # [planes] 0..
_STRIPS_X_PLANE_STRIDE = const(34)  # [elements] 0..
_STRIPS_ROWS = const(35)  # of x [elements] 0..
_STRIPS_COLUMNS = const(36)  # of x [elements] 0..
_STRIPS_OUT_ROWS = const(37)  # of a plane [rows] 0..
_STRIPS_ROW_STEP = const(38)  # from row to row of out in x [elements] 0..
_STRIPS_ROW = const(39)  # first one of x [elements, BIAS]
_STRIPS_COLUMN = const(40)  # first one of x [elements, BIAS]
_STRIPS_PHASES = const(41)  # runs of a row, one per column of a stride [runs] 0..
_STRIPS_PHASE_COLUMNS = const(42)  # of a run [elements] 0..
_STRIPS_OUT_START = const(43)  # [elements] 0..
_UNPACK_W_START = const(44)  # start of packed weights, see fpu_narrow [bytes] 0..
_UNPACK_ROWS = const(45)  # [rows] 0..
_UNPACK_COLUMNS = const(46)  # [elements] 0..
_UNPACK_OUT_START = const(47)  # [elements] 0..
_UNPACK_BITS = const(48)  # of a weight [bits] 0..16
_UNPACK_ROWS_AT_ONCE = const(49)  # rows that fit in the scratch [rows] 0..
_UNPACK_W_ROWS = const(50)  # of all groups [rows] 0..
_UNPACK_FIRST_ROW = const(51)  # first unpacked row [rows] 0..
_UNPACK_ROWS_END = const(52)  # end, exclusive; 0: none [rows] 0..
_UNPACK_W_ROW_STRIDE = const(53)  # from row to row of w [bytes] 0..
_SUMS_X_START = const(54)  # [bytes] 0..
_SUMS_GROUPS = const(55)  # [groups] 1..
_SUMS_X_GROUP_STRIDE = const(56)  # [bytes] 0..
_SUMS_ROWS = const(57)  # [rows] 1..
_SUMS_X_ROW_STRIDE = const(58)  # [bytes] 0..
_SUMS_POSITIONS = const(59)  # [positions] 0..
_SUMS_READABLE_POSITIONS = const(60)  # positions that may be read of x [positions] 4..
_SUMS_CHANNELS = const(61)  # of out in a group [channels] 1..
_SUMS_TAPS = const(62)  # kernel columns [elements] 1..
_SUMS_INNER = const(63)  # rows of x that a position covers: channels * kernel rows [rows] 1..
_SUMS_X_INNER_STRIDE = const(64)  # from one of these to the next [bytes] 0..
_SUMS_W_START = const(65)  # [bytes] 0..
_SUMS_CONSTS_START = const(66)  # of the first channel, in this part of the block [bytes] 0..
_SUMS_OUT_START = const(67)  # [bytes] 0..
_SUMS_OUT_POSITION_STRIDE = const(68)  # [bytes] 0..
_SUMS_OUT_CHANNEL_STRIDE = const(69)  # [bytes] 0..
_SUMS_OUT_ROW_STRIDE = const(70)  # [bytes] 0..
_SUMS_CLIP = const(71)  # 0 none, 1 relu, 2 to low and high [code] 0..2
_SUMS_LOW = const(72)  # [float bits]
_SUMS_HIGH = const(73)  # [float bits]
_SUMS_WINDOW_COLUMNS = const(74)  # of a max-pooling window [positions] 1..
_SUMS_WINDOW_ROW = const(75)  # 0 first row of a window, 1 another row, 2 no pooling [code] 0..2
_SUMS_TAP_STARTS = const(76)  # of each tap in x; then scale and bias of each channel [bytes x n]


@micropython.viper
def rows(p: ptr32, w):
    """Compute units of a convolution, by calls of consts, strips and sums.

    w lists the parts of p for strips, sums and consts; x, scratch, weights, out; biases,
    exponents; loops consts, strips, sums.

    Access:
        requires start < end and (channels == 1 or chunk_groups == rows_at_once == 1)
        requires strips_rows * strips_columns <= strips_x_plane_stride
        requires x_group_stride == channels * strips_x_plane_stride
        requires scratch_row_stride == 4 * strips_phases * strips_phase_columns
        images = (end - 1) // chunks // group_chunks + 1
        covered = (rows_at_once - 1) * row_stride + covered_rows
        strip_rows = covered if channels == 1 else channels * strips_out_rows
        strip_bytes = strip_rows * scratch_row_stride
        first_read = (chunk_groups - 1) * strip_bytes + (rows_at_once - 1) * sums_x_row_stride
        last_tap = max(sums_tap_starts[0:sums_taps]) + (sums_inner - 1) * sums_x_inner_stride
        last_image = out_start + (images - 1) * out_image_stride
        last_channel = last_image + (consts_channels - 1) * out_channel_stride
        last_row = last_channel + (rows - 1) // window_rows * out_row_stride
        last = last_row + (positions - 1) // sums_window_columns * out_position_stride
        reads w[3] as int32[0 : images * groups * x_group_stride]
        updates w[4] as uint8[0 : chunk_groups * strip_bytes]
        reads w[4] as uint8[0 : first_read + last_tap + 4 * sums_readable_positions]
        updates w[6] as int32[out_start : last + 1]
        row_bytes = unpack_w_row_stride
        n_unpacked = unpack_rows_at_once * unpack_columns
        channels_end = consts_w_start + consts_channels
        requires consts_channels == groups * out_channels and sums_channels == out_channels
        requires unpack_columns == sums_taps * sums_inner
        requires w_group_stride == 4 * out_channels * unpack_columns
        requires consts_start == 4 * consts_out_start
        requires len(w[1]) >= consts_out_start + 2 * consts_channels
        reads w[5] as int32[0 : consts_channels * unpack_columns] if unpack_bits == 0
        reads w[5][0] as uint8[0 : consts_channels * row_bytes] if unpack_bits
        updates w[5][1] as int32[unpack_out_start : unpack_out_start + n_unpacked] if unpack_bits
        reads w[7] as int32[consts_w_start : channels_end] if consts_has_bias
        reads w[8] as uint8[consts_w_start : channels_end]
    """
    strips_p = w[0]
    sums_p = w[1]
    x = w[3]
    scratch = w[4]
    weights = w[5]
    out = w[6]
    strips = w[10]
    sums = w[11]
    w[9](w[7], w[8], sums_p, w[2])  # weights may differ from those of the call before
    i = _UNPACK_ROWS_END
    p[i] = 0
    unit = p[_START]
    while unit < p[_END]:
        group = unit // p[_CHUNKS] % p[_GROUP_CHUNKS] * p[_CHUNK_GROUPS]
        image = unit // p[_CHUNKS] // p[_GROUP_CHUNKS]
        groups = p[_GROUPS] - group
        if groups > p[_CHUNK_GROUPS]:
            groups = p[_CHUNK_GROUPS]
        i = _STRIPS_X_START
        p[i] = (image * p[_GROUPS] + group) * p[_X_GROUP_STRIDE]
        p[i + (_STRIPS_PLANES - _STRIPS_X_START)] = groups * p[_CHANNELS]
        p[i + (_SUMS_GROUPS - _STRIPS_X_START)] = groups
        i = _SUMS_W_START
        p[i] = group * p[_W_GROUP_STRIDE]
        p[i + (_SUMS_CONSTS_START - _SUMS_W_START)] = (
            p[_CONSTS_START] + 8 * group * p[_OUT_CHANNELS]
        )
        row = unit % p[_CHUNKS] * p[_CHUNK_ROWS]
        end = row + p[_CHUNK_ROWS]
        if end > p[_ROWS]:
            end = p[_ROWS]
        while row < end:
            n = end - row
            if n > p[_ROWS_AT_ONCE]:
                n = p[_ROWS_AT_ONCE]
            i = _SUMS_ROWS
            p[i] = n
            i = _STRIPS_ROW
            p[i] = row * p[_ROW_STRIDE] + p[_CORNER_ROW]
            if p[_CHANNELS] == 1:
                i = _STRIPS_OUT_ROWS
                p[i] = (n - 1) * p[_ROW_STRIDE] + p[_COVERED_ROWS]
                i = _SUMS_X_GROUP_STRIDE
                p[i] = p[_STRIPS_OUT_ROWS] * p[_SCRATCH_ROW_STRIDE]
            if p[_SUMS_WINDOW_ROW] < 2:
                i = _SUMS_WINDOW_ROW
                p[i] = 1 if row % p[_WINDOW_ROWS] else 0
            at = (
                p[_OUT_START]
                + image * p[_OUT_IMAGE_STRIDE]
                + group * p[_OUT_CHANNELS] * p[_OUT_CHANNEL_STRIDE]
                + row // p[_WINDOW_ROWS] * p[_OUT_ROW_STRIDE]
            )
            first = 0
            while first < p[_POSITIONS]:
                n = p[_POSITIONS] - first
                if n > p[_POSITIONS_AT_ONCE]:
                    n = p[_POSITIONS_AT_ONCE]
                i = _SUMS_POSITIONS
                p[i] = n
                i = _SUMS_OUT_START
                p[i] = 4 * at
                i = _STRIPS_COLUMN
                p[i] = first * p[_COLUMN_STRIDE] + p[_CORNER_COLUMN]
                strips(x, x, scratch, strips_p)
                sums(scratch, weights, out, sums_p)
                at += p[_POSITIONS_AT_ONCE] // p[_SUMS_WINDOW_COLUMNS] * p[_OUT_POSITION_STRIDE]
                first += p[_POSITIONS_AT_ONCE]
            row += p[_SUMS_ROWS]
        unit += 1


@micropython.viper
def points(p: ptr32, w):
    """Compute units of a 1x1 convolution, as if the image were one row.

    Access:
        requires start < end and positions_at_once <= positions and sums_window_row == 2
        requires sums_readable_positions == positions_at_once
        requires 4 * positions == sums_x_inner_stride and sums_inner == channels
        requires x_group_stride == channels * positions
        units = (end - 1) // chunks + 1
        last_image = out_start + (units - 1) // groups * out_image_stride
        last_channel = last_image + (consts_channels - 1) * out_channel_stride
        reads w[3] as int32[0 : units * x_group_stride]
        writes w[6] as int32[out_start : last_channel + (positions - 1) * out_position_stride + 1]
        row_bytes = unpack_w_row_stride
        n_unpacked = unpack_rows_at_once * unpack_columns
        channels_end = consts_w_start + consts_channels
        requires consts_channels == groups * out_channels and sums_channels == out_channels
        requires unpack_columns == sums_taps * sums_inner
        requires w_group_stride == 4 * out_channels * unpack_columns
        requires consts_start == 4 * consts_out_start
        requires len(w[1]) >= consts_out_start + 2 * consts_channels
        reads w[5] as int32[0 : consts_channels * unpack_columns] if unpack_bits == 0
        reads w[5][0] as uint8[0 : consts_channels * row_bytes] if unpack_bits
        updates w[5][1] as int32[unpack_out_start : unpack_out_start + n_unpacked] if unpack_bits
        reads w[7] as int32[consts_w_start : channels_end] if consts_has_bias
        reads w[8] as uint8[consts_w_start : channels_end]
    """
    sums_p = w[1]
    x = w[3]
    weights = w[5]
    out = w[6]
    sums = w[11]
    w[9](w[7], w[8], sums_p, w[2])
    i = _UNPACK_ROWS_END
    p[i] = 0
    unit = p[_START]
    while unit < p[_END]:
        image = unit // p[_CHUNKS]
        group = image % p[_GROUPS]
        at = unit % p[_CHUNKS] * p[_POSITIONS_AT_ONCE]
        if at > p[_POSITIONS] - p[_POSITIONS_AT_ONCE]:  # the last may compute some positions again
            at = p[_POSITIONS] - p[_POSITIONS_AT_ONCE]
        i = _SUMS_X_START
        p[i] = 4 * (image * p[_X_GROUP_STRIDE] + at)
        i = _SUMS_W_START
        p[i] = group * p[_W_GROUP_STRIDE]
        p[i + (_SUMS_CONSTS_START - _SUMS_W_START)] = (
            p[_CONSTS_START] + 8 * group * p[_OUT_CHANNELS]
        )
        p[i + (_SUMS_OUT_START - _SUMS_W_START)] = 4 * (
            p[_OUT_START]
            + image // p[_GROUPS] * p[_OUT_IMAGE_STRIDE]
            + group * p[_OUT_CHANNELS] * p[_OUT_CHANNEL_STRIDE]
            + at * p[_OUT_POSITION_STRIDE]
        )
        sums(x, weights, out, sums_p)
        unit += 1
