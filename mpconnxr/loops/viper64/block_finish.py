"""Block floating point after the sums: see loops/block_finish. Viper form for 64-bit words.

Rare results are left to the common form: those with biases so far above the products that they do
not fit a word together, and those that are denormal or beyond the largest float. The emitter keeps
the first three locals in registers: in `x`, cast to a pointer, the result, and in `w` the part of
it that is being examined.
"""

from .. import block_finish as plain
from .._hints import unroll
from .._viper import ptr32
from .._words import bit


def finish(x, w, out, p):
    if _finish(x, w, out, p):
        plain.finish(x, w, out, p)


def _finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32) -> int:
    """Return 1 after stopping at a rare result, else 0."""
    sums, first_table = ptr32(int(x) + 4 * p[_X_START]), int(w) + 4 * p[_W_START]
    row_place, position_step = int(out) + 4 * p[_OUT_START], 4 * p[_OUT_POSITION_STRIDE]
    channel_step, skipped = (
        4 * p[_OUT_CHANNEL_STRIDE],
        12 * p[_SKIPPED_POSITIONS] * (p[_CHANNELS] + 1),
    )
    sign_bit = bit(31)
    low = 0 - p[_LOW] if p[_IS_LOW_NEGATIVE] else p[_LOW]
    high = 0 - p[_HIGH] if p[_IS_HIGH_NEGATIVE] else p[_HIGH]
    is_maximum = p[_IS_MAXIMUM]
    for rows in range(p[_ROWS], 0, -1):
        place = row_place
        for positions in range(p[_POSITIONS], 0, -1):
            x_sum = (sums[0] + (sums[1] << 24)) << 23
            y_high = (sums[1] >> 1) + (1 << 29) - 8192
            table, out = ptr32(first_table), ptr32(place)
            for channels in range(p[_CHANNELS], 0, -1):
                sums, e = ptr32(12 + int(sums)), table[3]
                v = table[2] + sums[2]
                if e >> 10 or (v - y_high) >> 14:
                    return 1
                v = ((v - (1 << 29)) << 24) + table[1] + sums[1]
                x = ptr32((v << 24) + table[0] + sums[0] - x_sum)
                is_negative = int(x) >> 63
                if is_negative:
                    x = ptr32(0 - int(x))
                w = ptr32(int(x) >> 24)
                if int(w):
                    s = 1  # bits of the result beyond 24
                    if int(w) >> 32:
                        w, s = ptr32(int(w) >> 32), 33
                    for b in unroll(4, 0, -1):
                        if int(w) >> (1 << b):
                            w = ptr32(int(w) >> (1 << b))
                            s += 1 << b
                    s += int(w) >> 1
                    e += s - 149  # one less than the float's exponent: its implicit bit adds 1
                    w = ptr32((int(x) >> s) & 1)
                    w = ptr32((1 << (s - 1)) - 1 + int(w))
                    w = ptr32((int(w) + int(x)) >> s)
                elif int(x):
                    e -= 149
                    w = x
                    while not int(w) >> 23:
                        w = ptr32(int(w) << 1)
                        e -= 1
                else:
                    e = 0
                if e < 0 or e > 253:
                    return 1
                w = ptr32((e << 23) + int(w))
                if is_negative:
                    w = ptr32(0 - int(w))
                if int(w) < low:
                    w = ptr32(low)
                if int(w) > high:
                    w = ptr32(high)
                if is_maximum:
                    v = out[0]
                    if v >> 31:
                        v = sign_bit - v
                    if int(w) < v:
                        w = ptr32(v)
                if int(w) < 0:
                    w = ptr32(sign_bit - int(w))
                out[0] = int(w)
                out = ptr32(channel_step + int(out))
                table = ptr32(16 + int(table))
            sums = ptr32(12 + int(sums))
            place += position_step
        sums = ptr32(skipped + int(sums))
        row_place += 4 * p[_OUT_ROW_STRIDE]
    return 0
