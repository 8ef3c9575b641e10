"""Short block floating point after the sums: see loops/short. Viper form.

The emitter keeps the first three locals in registers: a sum's magnitude, its exponent and the
float's bits, cast to pointers. Rare results, denormal or beyond the largest float, are left to the
common form.
"""

from .. import short as plain
from .._hints import far
from .._viper import ptr32
from .._words import signed
from ..short import align  # noqa: F401  (not time-critical)


def finish(x, w, out, p):
    if _finish(x, w, out, p):
        plain.finish(x, w, out, p)


def _finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32) -> int:
    """Return 1 after stopping at a rare result, else 0."""
    sums, first_channel, row = (
        int(x) + 4 * p[_X_START],
        int(w) + 4 * p[_W_START],
        int(out) + 4 * p[_OUT_START],
    )
    one = 1  # a variable: constant folding would make big integers
    half, sign = one << 30, one << 31
    low = signed(p[_LOW], p[_IS_LOW_NEGATIVE])
    high = signed(p[_HIGH], p[_IS_HIGH_NEGATIVE])
    channel_step, is_maximum, position = 4 * p[_OUT_CHANNEL_STRIDE], p[_IS_MAXIMUM], 0
    while position < p[_POSITIONS] * p[_ROWS]:
        at = row + 4 * (
            position // p[_POSITIONS] * p[_OUT_ROW_STRIDE]
            + position % p[_POSITIONS] * p[_OUT_POSITION_STRIDE]
        )
        channel, end = first_channel, sums + 4 * p[_CHANNELS]
        while far(sums != end):
            x, w = ptr32(sums), ptr32(channel)
            x = ptr32(((x[0] - half) >> w[0]) + w[1] - half)
            sums += 4
            channel += 12
            is_negative = int(x) < 0
            if is_negative:
                x = ptr32(0 - int(x))
            if int(x):
                w = ptr32(w[2] - 142)
                while int(x) >> 24 == 0:
                    x, w = ptr32(int(x) << 6), ptr32(int(w) - 6)
                if int(x) >> 28 == 0:
                    x, w = ptr32(int(x) << 3), ptr32(int(w) - 3)
                while int(x) >> 30 == 0:
                    x, w = ptr32(int(x) << 1), ptr32(int(w) - 1)
                if int(w) < 0 or int(w) > 253:
                    return 1
                out = ptr32((int(w) << 23) + (int(x) >> 7))
                out = ptr32((((int(x) & 127) + (int(out) & 1) + 63) >> 7) + int(out))
                if is_negative:
                    out = ptr32(0 - int(out))
            else:
                out = ptr32(0)
            if int(out) < low:
                out = ptr32(low)
            if int(out) > high:
                out = ptr32(high)
            w = ptr32(at)
            at += channel_step
            if is_maximum:
                x = ptr32(w[0])
                if (int(x) >> 31) & 1:
                    x = ptr32(0 - (int(x) & (sign - 1)))
                if int(out) < int(x):
                    out = ptr32(int(x))
            if int(out) < 0:
                out = ptr32(0 - int(out) - sign)
            w[0] = int(out)
        position += 1
        if position % p[_POSITIONS] == 0:
            sums += 4 * p[_SKIPPED_POSITIONS] * p[_CHANNELS]
    return 0
