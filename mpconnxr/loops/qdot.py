"""Dot products of bytes with requantization, the inner loops of qconv. Plain form.

x holds positions of `columns` unsigned bytes. If has_sums is 1, their sum S, an int32, precedes
each position. w holds a row of as many weights for each channel: four channels at a time
interleaved by four elements ([columns / 4][4 rows][4 elements]), then the rows of up to three
remaining channels, contiguous. out gets a byte for each position and channel, at out_start +
position * out_position_stride + channel * out_channel_stride:

    sum = the sum of x[position, k] * w[channel, k] - w_zero_point * S
    a = (sum + c) << f, or c + (sum >> f - 25) where f > 25; clipped to -2**25 .. 2**25
    q = a * M / 2**47, rounded half to even: a product of 57 bits, all of which count
    out = q + out_zero_point, clipped to low .. high

The table, in w or x, holds two words for each channel: the first has its shift f in bits 0-4 and
its signed bias c in bits 5-31, the second its multiplier M, from 2**30 to 2**31, or less if f is 0
or 31. The scale is M * 2**(f - 47) if f < 26, else M * 2**(-22 - f). The converter finds an M with
which each sum rounds as with the real scale: docs/quantization.md.

qdots8_many is for positions that are contiguous with their sums; tuned forms are faster for
several of them. No intermediate value exceeds 31 bits; the caller keeps columns * 255 * 255 below
2**31.

If scratch_start is not 0, x has (positions + positions % 2) * (2 * columns + 4) + 8 * columns
bytes from there on that a form may overwrite. They begin at a multiple of 4, behind the first two
positions, and may overlap all other positions and their sums: a form reads these before it writes
there. Positions, table and rows are then aligned to 4 bytes.
"""

# Parameters of qdots8, qdots8_many
_W_START = const(0)  # start of the rows of weights [bytes] 0..
_TABLE_START = 1  # start of the table [bytes] 0..
_COLUMNS = 2  # of a position and of a row of weights, a multiple of 4 [elements] 4..33024
_POSITIONS = 3  # [positions] 1..
_CHANNELS = const(4)  # [channels] 1..
_OUT_START = 5  # [elements] 0..
_OUT_POSITION_STRIDE = 6  # from position to position of out [elements] 0..
_OUT_CHANNEL_STRIDE = const(7)  # from channel to channel of out [elements] 0..
_W_ZERO_POINT = const(8)  # [value] 0..255
_OUT_ZERO_POINT = 9  # [value, BIAS] -128..255
_LOW = const(10)  # of out [value, BIAS] -128..255
_HIGH = const(11)  # of out [value, BIAS] -128..255
_X_START = 12  # start of the elements of the first position [bytes] 0..
_X_POSITION_STRIDE = 13  # from position to position of x [bytes] 0..
_HAS_SUMS = 14  # the 4 bytes before each position's elements hold their sum [flag] 0, 1
_IS_TABLE_IN_X = 15  # the table lies in x, not in w [flag] 0, 1
_SCRATCH_START = 16  # start of bytes in x that a form may overwrite; 0: none [bytes] 0..

BIAS = 1 << 29
_LIMIT = 1 << 25
_MOST_LEFT = 25


def qdots8(x, w, out, p):
    """Compute positions x channels.

    Access:
        requires columns % 4 == 0
        requires not scratch_start or has_sums and x_position_stride == columns + 4
        requires not scratch_start or scratch_start >= x_start - 4 + 2 * x_position_stride
        reads x as uint8[x_start - (4 if has_sums else 0)
            : x_start + (positions - 1) * x_position_stride + columns]
        writes x as uint8[scratch_start
            : scratch_start + (positions + positions % 2) * (2 * columns + 4) + 8 * columns]
            if scratch_start
        reads x as uint8[table_start : table_start + 8 * channels] if is_table_in_x
        reads w as uint8[table_start : table_start + 8 * channels] if not is_table_in_x
        reads w as uint8[w_start : w_start + channels * columns]
        last = (positions - 1) * out_position_stride + (channels - 1) * out_channel_stride
        writes out as uint8[out_start : out_start + last + 1]
        given apart((positions, out_position_stride), (channels, out_channel_stride))
    """
    first, at, n = p[_X_START], p[_OUT_START], p[_POSITIONS]
    while n:
        channel = 0
        zero_sum = p[_W_ZERO_POINT] * elements_sum(x, p, first)
        while channel < p[_CHANNELS]:
            v = scaled(
                row_sum(x, w, p, first, channel) - zero_sum,
                x if p[_IS_TABLE_IN_X] else w,
                p[_TABLE_START] + 8 * channel,
            )
            v += p[_OUT_ZERO_POINT] - BIAS
            out[at + channel * p[_OUT_CHANNEL_STRIDE]] = (
                min(max(v, p[_LOW] - BIAS), p[_HIGH] - BIAS) & 255
            )
            channel += 1
        first += p[_X_POSITION_STRIDE]
        at += p[_OUT_POSITION_STRIDE]
        n -= 1


def qdots8_many(x, w, out, p):
    """Compute positions that are contiguous in x.

    Access:
        requires has_sums and x_position_stride == columns + 4
        as qdots8
    """
    qdots8(x, w, out, p)


def word(w, i):
    """Return a signed word from bytes w[i] to w[i + 3]."""
    return (w[i] | w[i + 1] << 8 | w[i + 2] << 16) + (((w[i + 3] ^ 128) - 128) << 24)


def elements_sum(x, p, first):
    """Return S of the position that starts at `first`."""
    if p[_HAS_SUMS]:
        return word(x, first - 4)
    total, end = 0, first + p[_COLUMNS]
    while first < end:
        total += x[first]
        first += 1
    return total


def row_sum(x, w, p, first, channel):
    """Return the sum of products of the position at `first` with the weights of a channel."""
    tiled = p[_CHANNELS] & -4
    columns = p[_COLUMNS]
    if channel < tiled:
        return _dot(
            x,
            w,
            first,
            p[_W_START] + (channel & -4) * columns + (channel & 3) * 4,
            columns >> 2,
            16,
        )
    return _dot(x, w, first, p[_W_START] + channel * columns, columns >> 2, 4)


def _dot(x, w, i, j, n, stride):
    total = 0
    while n:
        total += x[i] * w[j] + x[i + 1] * w[j + 1] + x[i + 2] * w[j + 2] + x[i + 3] * w[j + 3]
        i += 4
        j += stride
        n -= 1
    return total


def scaled(v, table, i):
    """Return v + c, requantized with the entry at byte i of the table, rounded half to even."""
    c, f = word(table, i) >> 5, table[i] & 31
    if f > _MOST_LEFT:
        v >>= f - _MOST_LEFT
        f = 0
    v += c
    limit = _LIMIT >> f
    v = min(max(v, -limit), limit) << f
    m_high = table[i + 7] << 9 | table[i + 6] << 1 | table[i + 5] >> 7
    m_low = (table[i + 5] & 127) << 8 | table[i + 4]
    lowest = (v & 4095) * m_low
    low = (v >> 12) * m_low + (lowest >> 12)
    middle = (v & 4095) * m_high + (low >> 3)
    v = (v >> 12) * m_high + (middle >> 12)
    is_more = (lowest | middle) & 4095 or low & 7
    return v + 524287 + (1 if is_more else v >> 20 & 1) >> 20
