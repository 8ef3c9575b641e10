"""Dot products of bytes as int32, without requantization. Plain form.

x, w and the table, which lies in w, are those of loops/qdot, but both words of a channel are
signed numbers: its bias and its factor. out gets an int32 for each position and channel, at
out_start + position * out_position_stride + channel * out_channel_stride:

    out = sum[position, channel] + bias + zero_point * factor     modulo 2**32
"""

from .qdot import elements_sum, row_sum, word

# Parameters of qdots32
_W_START = const(0)  # start of the rows of weights [bytes] 0..
_TABLE_START = const(1)  # start of the table [bytes] 0..
_COLUMNS = const(2)  # of a position and of a row of weights, a multiple of 4 [elements] 4..33024
_POSITIONS = const(3)  # [positions] 1..
_CHANNELS = const(4)  # [channels] 1..
_OUT_START = 5  # [elements] 0..
_OUT_POSITION_STRIDE = const(6)  # from position to position of out [elements] 0..
_OUT_CHANNEL_STRIDE = const(7)  # from channel to channel of out [elements] 0..
_W_ZERO_POINT = const(8)  # [value] 0..255
_X_ZERO_POINT = 9  # zero point of x if zero_start is 0 [value] 0..255
_ZERO_START = const(10)  # offset in x of its zero point; 0: use x_zero_point [bytes] 0..
_UNUSED = const(11)  # unused; a limit of out in qdots8 [words x 1]
_X_START = const(12)  # start of the elements of the first position [bytes] 0..
_X_POSITION_STRIDE = const(13)  # from position to position of x [bytes] 0..
_HAS_SUMS = const(14)  # the 4 bytes before each position's elements hold their sum [flag] 0, 1


def qdots32(x, w, out, p):
    """Compute positions x channels.

    Access:
        requires columns % 4 == 0
        reads x as uint8[x_start - (4 if has_sums else 0)
            : x_start + (positions - 1) * x_position_stride + columns]
        reads x as uint8[zero_start : zero_start + 1] if zero_start
        reads w as uint8[table_start : table_start + 8 * channels]
        reads w as uint8[w_start : w_start + channels * columns]
        last = (positions - 1) * out_position_stride + (channels - 1) * out_channel_stride
        writes out as int32[out_start : out_start + last + 1]
        given apart((positions, out_position_stride), (channels, out_channel_stride))
    """
    first, at, n = p[_X_START], p[_OUT_START], p[_POSITIONS]
    zero = x[p[_ZERO_START]] if p[_ZERO_START] else p[_X_ZERO_POINT]
    while n:
        channel = 0
        zero_sum = p[_W_ZERO_POINT] * elements_sum(x, p, first)
        while channel < p[_CHANNELS]:
            v = (
                row_sum(x, w, p, first, channel)
                - zero_sum
                + word(w, p[_TABLE_START] + 8 * channel)
            )
            v += zero * word(w, p[_TABLE_START] + 8 * channel + 4)
            out[at + channel * p[_OUT_CHANNEL_STRIDE]] = (v + 0x80000000 & 0xFFFFFFFF) - 0x80000000
            channel += 1
        first += p[_X_POSITION_STRIDE]
        at += p[_OUT_POSITION_STRIDE]
        n -= 1
