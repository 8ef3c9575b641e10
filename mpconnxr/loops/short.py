"""Short block floating point: biases in the unit of their sums, and sums to floats.

Like loops/block and loops/block_finish, with mantissas of at most 15 bits (see loops/short_dot),
so that a sum S with its bias fits a word: |S| < 2**30. Contents of a model file may have any
value: shifts are bounded, and no value is used as an index.
"""

from ._floats import bias_of_channel, put_limited
from ._hints import far, unroll
from ._words import signed
from .block import (
    _ALIGN_CHANNELS,
    _ALIGN_EXPONENT,
    _ALIGN_OUT_START,
    _ALIGN_W_START,
    _ALIGN_W_STRIDE,
    _ALIGN_X_STRIDE,
)
from .block_finish import (
    _CHANNELS,
    _HIGH,
    _IS_HIGH_NEGATIVE,
    _IS_LOW_NEGATIVE,
    _IS_MAXIMUM,
    _LOW,
    _OUT_CHANNEL_STRIDE,
    _OUT_POSITION_STRIDE,
    _OUT_ROW_STRIDE,
    _OUT_START,
    _POSITIONS,
    _ROWS,
    _SKIPPED_POSITIONS,
    _W_START,
    _X_START,
)

# Parameters of align: as block.align

# Parameters of finish: as block_finish.finish


def align(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Write the initial sum of each channel, and the exponent.

        x    biases;  w  exponents
        out  3 words per channel: shift min(s, 31), C + 2**30, E + exponent + s, where s is 0 but
             for a large bias; the sum is (S >> s) + C

    Access:
        n = align_channels
        reads x[x_start : x_start + (n - 1) * align_x_stride + 1] if align_x_stride
        reads w[align_w_start : align_w_start + (n - 1) * align_w_stride + 1]
        writes out[align_out_start : align_out_start + 3 * n]
    """
    i, j, at = p[_X_START], p[_ALIGN_W_START], p[_ALIGN_OUT_START]
    end = at + 3 * p[_ALIGN_CHANNELS]
    one = 1  # a variable: constant folding would make big integers
    while at < end:
        m, s, e, i, j, v = bias_of_channel(
            x, i, w, j, p[_ALIGN_X_STRIDE], p[_ALIGN_EXPONENT], p[_ALIGN_W_STRIDE]
        )
        if s < 0:
            m = (m + (1 << (0 - s - 1))) >> (0 - s) if s > 0 - 25 else 0
            s = 0
        elif s > 6 and m:  # a large bias: use a larger unit for the sum
            m = m << 6
            s -= 6
            e += s
            s = min(s, 31)  # from 30 on, nothing of S counts
        else:
            m = m << s if s < 7 else 0
            s = 0
        if (v >> 31) & 1:
            m = 0 - m
        out[at] = s
        out[at + 1] = m + (one << 30)
        out[at + 2] = e
        at += 3


def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write sums as floats, rounded to nearest even, clipped to low .. high.

        x    sums of the channels for each position
        w    initial sums that align writes

    Access:
        all_positions = rows * (positions + skipped_positions) - skipped_positions
        reads x[x_start : x_start + all_positions * channels]
        reads w[w_start : w_start + 3 * channels]
        last = ((rows - 1) * out_row_stride + (positions - 1) * out_position_stride
            + (channels - 1) * out_channel_stride)
        updates out[out_start : out_start + last + 1]
        given apart((rows, out_row_stride), (positions, out_position_stride),
            (channels, out_channel_stride))
        given 0 < x[x_start : x_start + all_positions * channels] < 1 << 31
        given 0 <= w[w_start + 3 * i : w_start + 3 * i + 1] < 32 for i in range(channels)
        given 64 <= w[w_start + 3 * i + 1 : w_start + 3 * i + 2] <= (1 << 31) - 64
            for i in range(channels)
        given 0 <= w[w_start + 3 * i + 2 : w_start + 3 * i + 3] < 560 for i in range(channels)
    """
    i = p[_X_START]
    sign = 1  # a variable: constant folding would make big integers
    half, sign = sign << 30, sign << 31
    low = signed(p[_LOW], p[_IS_LOW_NEGATIVE])
    high = signed(p[_HIGH], p[_IS_HIGH_NEGATIVE])
    position = 0
    while far(position != p[_POSITIONS] * p[_ROWS]):
        at = (
            p[_OUT_START]
            + position // p[_POSITIONS] * p[_OUT_ROW_STRIDE]
            + position % p[_POSITIONS] * p[_OUT_POSITION_STRIDE]
        )
        j = p[_W_START]
        for channels in far(range(p[_CHANNELS], 0, -1)):
            v = ((x[i] - half) >> w[j]) + (w[j + 1] - half)
            e = w[j + 2] - 141  # exponent of the float if bit 30 is the highest of the sum
            size = v
            if v < 0:
                size = 0 - v
            for b in unroll(4, -1, -1):
                if size >> (31 - (1 << b)) == 0:
                    size = size << (1 << b)
                    e -= 1 << b
            k = 7
            if e < 1 or size == 0:  # a denormal
                k = 8 - e if e > 0 - 24 and size else 31
                e = 1
                if k == 31:
                    size = 0
            t = size >> k
            size = (size & ((1 << k) - 1)) - (1 << (k - 1))
            if size > 0 or size == 0 and t & 1:
                t += 1
            if e > 254:
                e, t = 256, 0
            t += (e - 1) << 23  # a carry out of the mantissa increments the exponent
            if v < 0:
                t = 0 - t
            at, t, v = put_limited(
                t, low, high, sign, out, at, p[_IS_MAXIMUM], p[_OUT_CHANNEL_STRIDE]
            )
            j += 3
            i += 1
        position += 1
        if position % p[_POSITIONS] == 0:
            i += p[_SKIPPED_POSITIONS] * p[_CHANNELS]
