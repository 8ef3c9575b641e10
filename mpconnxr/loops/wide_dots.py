"""Products of 16-bit integers and 8-bit weights, with requantization: the inner loop of wide_conv.

There is also a faster viper form. Elements are uint16: signed ones are stored plus 32768, and so
are their zero points.

x holds records: the sum of a position's elements (two elements), then its `columns` elements. w
holds a table and rows of as many weights, plus 128, one row for each channel. out gets an element
for each position and channel, at out_start + position * out_position_stride + channel *
out_channel_stride. The table has 12 bytes for each channel: its bias as c1 * 2**15 + c0 (c1 an
int32, c0 from 0 to 32767), and a word whose lowest 6 bits are its shift f, and the upper 24 bits
its multiplier M.

    sum = the sum of x[position, k] * (w[channel, k] - 128) + bias
    a = sum * 2**f (f > 31: sum / 2**(f - 32)), clipped to -2**30 .. 2**30
    g = a * M / 2**24, rounded;  q = g / 2**13, rounded half to even
    out = q + out_zero_point, clipped to low .. high

Up to 120 products are summed in a word, and these words in two of 15 bits and more: sums are
exact.
"""

from ._bytes import shift_wide

# Parameters of wide_dots
_W_START = const(0)  # start of the rows of weights [bytes] 0..
_TABLE_START = const(1)  # start of the table [bytes] 0..
_COLUMNS = const(2)  # of a position and of a row of weights [elements] 1..16384
_POSITIONS = const(3)  # [positions] 1..
_CHANNELS = const(4)  # [channels] 1..
_OUT_START = const(5)  # [elements] 0..
_OUT_POSITION_STRIDE = const(6)  # from position to position of out [elements] 0..
_OUT_CHANNEL_STRIDE = const(7)  # from channel to channel of out [elements] 0..
_UNUSED = const(8)  # unused; zero point of w in qdot [value] 0
_OUT_ZERO_POINT = const(9)  # [value, BIAS] -32768..65535
_LOW = const(10)  # of out [value, BIAS] -32768..65535
_HIGH = const(11)  # of out [value, BIAS] -32768..65535


def wide_dots(x: ptr16, w: ptr8, out: ptr16, p: ptr32):
    """Compute positions x channels.

    Access:
        reads x[0 : positions * (columns + 2)]
        reads w[table_start : table_start + 12 * channels]
        reads w[w_start : w_start + channels * columns]
        last = (positions - 1) * out_position_stride + (channels - 1) * out_channel_stride
        writes out[out_start : out_start + last + 1]
        given apart((positions, out_position_stride), (channels, out_channel_stride))
    """
    bias, first, at = 1 << 29, 2, p[_OUT_START]
    for positions_left in range(p[_POSITIONS], 0, -1):
        weights, table, place = p[_W_START], p[_TABLE_START], at
        for channels_left in range(p[_CHANNELS], 0, -1):
            i, end, high = first, first + p[_COLUMNS], 0
            low = 0
            while i < end:
                stop = min(i + 120, end)
                s = 0
                while i < stop - 1:  # unrolled by four, the outer loop is too long for Xtensa
                    s += x[i] * w[weights] + x[i + 1] * w[weights + 1]
                    i += 2
                    weights += 2
                while i < stop:
                    s += x[i] * w[weights]
                    i += 1
                    weights += 1
                high += s >> 15
                low += s & 32767
            s = x[first - 2] | x[first - 1] << 16
            low += (w[table + 4] | w[table + 5] << 8) - ((s & 32767) << 7)
            high += (w[table] | w[table + 1] << 8 | w[table + 2] << 16) + (
                ((w[table + 3] ^ 128) - 128) << 24
            )
            high += (low >> 15) - ((s >> 15) << 7)
            low, f = low & 32767, w[table + 8] & 63
            v, high, low, rest = shift_wide(high, low, f, bias)
            s = w[table + 11] << 4 | w[table + 10] >> 4
            f = (w[table + 10] & 15) << 8 | w[table + 9]
            rest, v = v & 32767, v >> 15
            f = ((v * f) << 3) + rest * s + ((rest * f) >> 12) + 2048
            v = ((v * s) << 3) + (f >> 12)
            v = max(
                ((v + 4095 + ((v >> 13) & 1)) >> 13) + p[_OUT_ZERO_POINT] - bias, p[_LOW] - bias
            )
            v = min(v, p[_HIGH] - bias)
            out[place] = v & 65535
            place += p[_OUT_CHANNEL_STRIDE]
            table += 12
        first += p[_COLUMNS] + 2
        at += p[_OUT_POSITION_STRIDE]
