"""Block floating point after the sums: limbs to floats. See loops/block.

Contents of a model file may have any value: shifts are bounded, and no value is used as an index.
"""

from ._floats import put_limited
from ._hints import far
from ._words import bit, signed

# Parameters of finish
_X_START = 0  # [elements] 0..
_POSITIONS = 1  # in a row [positions] 1..
_CHANNELS = 2  # [channels] 1..
_W_START = 3  # [elements] 0..
_OUT_START = 4  # [elements] 0..
_OUT_POSITION_STRIDE = 5  # of a row [elements] 0..
_OUT_CHANNEL_STRIDE = 6  # [elements] 0..
_OUT_ROW_STRIDE = 7  # [elements] 0..
_ROWS = 8  # [rows] 1..
_SKIPPED_POSITIONS = 9  # between two rows, whose sums do not count [positions] 0..
_IS_LOW_NEGATIVE = 10  # [flag] 0, 1
_LOW = 11  # magnitude of the least result [float bits] 0..2**31 - 1
_IS_HIGH_NEGATIVE = 12  # [flag] 0, 1
_HIGH = 13  # magnitude of the greatest result [float bits] 0..2**31 - 1
_IS_MAXIMUM = 14  # keep the larger of out and the result [flag] 0, 1


def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write sums as floats, rounded once to nearest even, clipped to low .. high.

        x    limbs of loops/block_dot for each position: of sum(x), then of each channel
        w    initial sums that align of loops/block writes

    Access:
        all_positions = rows * (positions + skipped_positions) - skipped_positions
        reads x[x_start : x_start + all_positions * 3 * (channels + 1)]
        reads w[w_start : w_start + 4 * channels]
        last = ((rows - 1) * out_row_stride + (positions - 1) * out_position_stride
            + (channels - 1) * out_channel_stride)
        updates out[out_start : out_start + last + 1]
        given apart((rows, out_row_stride), (positions, out_position_stride),
            (channels, out_channel_stride))
    """
    i = p[_X_START]
    sign = bit(31)
    low = signed(p[_LOW], p[_IS_LOW_NEGATIVE])
    high = signed(p[_HIGH], p[_IS_HIGH_NEGATIVE])
    position = 0
    while far(position != p[_POSITIONS] * p[_ROWS]):
        at = (
            p[_OUT_START]
            + position // p[_POSITIONS] * p[_OUT_ROW_STRIDE]
            + position % p[_POSITIONS] * p[_OUT_POSITION_STRIDE]
        )
        x_low = (x[i] & 1) << 23
        x_middle = (x[i] >> 1) + ((x[i + 1] & 1) << 23)
        x_high, j = x[i + 1] >> 1, p[_W_START]
        for channels in far(range(p[_CHANNELS], 0, -1)):
            i += 3
            e, t_low, t_middle, t = w[j + 3], w[j], w[j + 1], 0
            s = e >> 10  # by which the unit of a large bias is above that of the sum
            if s < 12:
                t_low += x[i] - x_low
                t_middle += x[i + 1] - x_middle
                t = x[i + 2] - x_high
            t_middle += t_low >> 24
            t_low = t_low & 0xFFFFFF
            t += t_middle >> 24
            t_middle, is_negative = t_middle & 0xFFFFFF, 0
            if s:
                t_low = t_low | t_middle  # sticky: only whether any is set
                t_middle = (t << (24 - s)) & 0xFFFFFF
                t = t >> s
            t += w[j + 2] - (1 << 29)
            e = (e & 1023) - 100  # exponent of the float if its leading bit is bit 23 of t
            if t < 0:
                is_negative, t_low = 1, 0 - t_low
                t_middle = (t_low >> 24) - t_middle
                t, t_low, t_middle = (t_middle >> 24) - t, t_low & 0xFFFFFF, t_middle & 0xFFFFFF
            if t >> 24:
                t_low = t_low | t_middle & 255  # sticky, too
                t_middle = (t_middle >> 8) | (t & 255) << 16
                t = t >> 8
                e += 8
            elif t == 0:
                t, t_middle, t_low = t_middle, t_low, 0
                e -= 24
                if t == 0:
                    t, t_middle = t_middle, 0
                    e -= 24 if t else 400
            s = 0
            if t < 1 << 12:
                t, s = t << 12, 12
            if t < 1 << 18:
                t = t << 6
                s += 6
            while t < 1 << 23 and s < 24:
                t = t << 1
                s += 1
            t, t_middle = t | t_middle >> (24 - s), (t_middle << s) & 0xFFFFFF
            e -= s
            if e < 1:  # a denormal
                if e > 0 - 24:
                    s = 1 - e
                    t_low = t_low | t_middle
                    t_middle = (t << (24 - s)) & 0xFFFFFF
                    t = t >> s
                else:
                    t = t_middle = 0
                e = 0
            elif e < 255:
                t -= 1 << 23
            else:
                e, t, t_middle = 255, 0, 0
            if t_middle > 1 << 23 or t_middle == 1 << 23 and (t_low or t & 1):
                t += 1
            t += e << 23  # a carry out of the mantissa increments the exponent
            if is_negative:
                t = 0 - t
            at, t, v = put_limited(
                t, low, high, sign, out, at, p[_IS_MAXIMUM], p[_OUT_CHANNEL_STRIDE]
            )
            j += 4
        i += 3
        position += 1
        if position % p[_POSITIONS] == 0:
            i += p[_SKIPPED_POSITIONS] * 3 * (p[_CHANNELS] + 1)
