"""Products of 16-bit integers and 8-bit weights: see loops/wide_dots. Viper form.

The emitter keeps the first three locals in registers: both pointers, and the sum, in `out`, cast
to a pointer.
"""

from .._bytes import shift_wide
from .._viper import ptr8, ptr16, ptr32


def wide_dots(x: ptr16, w: ptr8, out: ptr16, p: ptr32):
    bias, results, row = 1 << 29, out, int(x) + 4
    blob, at = int(w), p[_OUT_START]
    for positions_left in range(p[_POSITIONS], 0, -1):
        weights, table, place = blob + p[_W_START], blob + p[_TABLE_START], at
        for channels_left in range(p[_CHANNELS], 0, -1):
            x, w = ptr16(row), ptr8(weights)
            weights += p[_COLUMNS]
            end, high, low = row + 2 * p[_COLUMNS], 0, 0
            while int(x) < end:
                stop = min(int(x) + 240, end)
                out = ptr16(0)
                while int(x) < stop - 6:
                    out = ptr16(x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3] + int(out))
                    x, w = ptr16(int(x) + 8), ptr8(int(w) + 4)
                while int(x) < stop:
                    out = ptr16(x[0] * w[0] + int(out))
                    x, w = ptr16(int(x) + 2), ptr8(int(w) + 1)
                high += int(out) >> 15
                low += int(out) & 32767
            x, w = ptr16(row - 4), ptr8(table)
            s = x[0] | x[1] << 16
            low += (w[4] | w[5] << 8) - ((s & 32767) << 7)
            high += (w[0] | w[1] << 8 | w[2] << 16) + (((w[3] ^ 128) - 128) << 24)
            high += (low >> 15) - ((s >> 15) << 7)
            low, f = low & 32767, w[8] & 63
            v, high, low, rest = shift_wide(high, low, f, bias)
            s, f = w[11] << 4 | w[10] >> 4, (w[10] & 15) << 8 | w[9]
            rest, v = v & 32767, v >> 15
            f = ((v * f) << 3) + rest * s + ((rest * f) >> 12) + 2048
            v = ((v * s) << 3) + (f >> 12)
            v = max(
                ((v + 4095 + ((v >> 13) & 1)) >> 13) + p[_OUT_ZERO_POINT] - bias, p[_LOW] - bias
            )
            v = min(v, p[_HIGH] - bias)
            results[place] = v
            place += p[_OUT_CHANNEL_STRIDE]
            table += 12
        row += 2 * p[_COLUMNS] + 4
        at += p[_OUT_POSITION_STRIDE]
