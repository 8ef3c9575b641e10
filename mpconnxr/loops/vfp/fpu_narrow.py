"""Sums of loops/vfp/fpu_sums with weights of fewer than 24 bits: see ops/_block_vfp. In viper.

The weights are unpacked to mantissas in the scratch, some rows at a time, which stay until others
are needed: this costs little if many positions use the same weights, or if all rows fit.
"""

import micropython

from ..block_unpack import _COLUMNS as _UNPACK_COLUMNS
from ..block_unpack import _OUT_START as _UNPACK_OUT_START
from ..block_unpack import _ROWS as _UNPACK_ROWS
from ..block_unpack import _W_START as _UNPACK_W_START

# Parameters of sums
_X_START = const(0)  # [bytes] 0..
_GROUPS = const(1)  # [groups] 1..
_X_GROUP_STRIDE = const(2)  # [bytes] 0..
_ROWS = const(3)  # [rows] 1..
_X_ROW_STRIDE = const(4)  # [bytes] 0..
_POSITIONS = const(5)  # [positions] 0..
_READABLE_POSITIONS = const(6)  # positions that may be read of x [positions] 4..
_CHANNELS = const(7)  # of out in a group [channels] 1..
_TAPS = const(8)  # kernel columns [elements] 1..
_INNER = const(9)  # rows of x that a position covers: channels * kernel rows [rows] 1..
_X_INNER_STRIDE = const(10)  # from one of these to the next [bytes] 0..
_W_START = const(11)  # [bytes] 0..
_CONSTS_START = const(12)  # of the first channel, in this block [bytes] 0..
_OUT_START = const(13)  # [bytes] 0..
_OUT_POSITION_STRIDE = const(14)  # [bytes] 0..
_OUT_CHANNEL_STRIDE = const(15)  # [bytes] 0..
_OUT_ROW_STRIDE = const(16)  # [bytes] 0..
_CLIP = const(17)  # 0 none, 1 relu, 2 to low and high [code] 0..2
_LOW = const(18)  # [float bits]
_HIGH = const(19)  # [float bits]
_WINDOW_COLUMNS = const(20)  # of a max-pooling window [positions] 1..
_WINDOW_ROW = const(21)  # 0 first row of a window, 1 another row, 2 no pooling [code] 0..2
_TAP_STARTS = const(22)  # of each tap in x; then scale and bias of each channel [bytes x n]

# Parameters of unpacked: as block_unpack.unpack
_ROWS_AT_ONCE = const(5)  # rows that fit in the scratch [rows] 1..
_W_ROWS = const(6)  # of all groups [rows] 1..
_FIRST_ROW = const(7)  # first unpacked row [rows] 0..
_ROWS_END = const(8)  # end, exclusive; 0: none [rows] 0..
_W_ROW_STRIDE = const(9)  # from row to row of w [bytes] 0..


@micropython.viper
def sums(x, w, out, p):
    """Compute sums of loops/vfp/fpu_sums; p is the block as for 24-bit mantissas.

    w lists packed weights, scratch, the block `unpacked`, loops unpack and sums.
    """
    weights = w[0]
    scratch = w[1]
    unpacked_p = w[2]
    unpack = w[3]
    add = w[4]
    unpacked = ptr32(unpacked_p)
    block = ptr32(p)
    channels = block[_CHANNELS]
    place = block[_W_START]
    row = place // (4 * unpacked[_UNPACK_COLUMNS])
    end = row + block[_GROUPS] * channels
    while row < end:
        rows = unpacked[_ROWS_AT_ONCE]
        if rows > end - row:
            rows = end - row
        if row < unpacked[_FIRST_ROW] or row + rows > unpacked[_ROWS_END]:
            i = _FIRST_ROW
            unpacked[i] = row
            unpacked[i + (_ROWS_END - _FIRST_ROW)] = (
                row + unpacked[_ROWS_AT_ONCE]
                if row + unpacked[_ROWS_AT_ONCE] < unpacked[_W_ROWS]
                else unpacked[_W_ROWS]
            )
            i = _UNPACK_W_START
            unpacked[i] = row * unpacked[_W_ROW_STRIDE]
            unpacked[i + (_UNPACK_ROWS - _UNPACK_W_START)] = unpacked[_ROWS_END] - row
            unpack(weights, weights, scratch, unpacked_p)
        i = _CHANNELS
        block[i] = rows // block[_GROUPS]
        i = _W_START
        block[i] = 4 * (
            unpacked[_UNPACK_OUT_START] + (row - unpacked[_FIRST_ROW]) * unpacked[_UNPACK_COLUMNS]
        )
        add(x, scratch, out, p)
        block[i + (_CONSTS_START - _W_START)] += 8 * rows
        block[i + (_OUT_START - _W_START)] += block[_OUT_CHANNEL_STRIDE] * rows
        row += rows
    rows = block[_GROUPS] * channels
    i = _W_START
    block[i] = place
    block[i + (_CONSTS_START - _W_START)] -= 8 * rows
    block[i + (_OUT_START - _W_START)] -= block[_OUT_CHANNEL_STRIDE] * rows
    i = _CHANNELS
    block[i] = channels
