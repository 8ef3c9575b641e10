"""Sums of short mantissas: see loops/short_dot. Viper form for 64-bit words.

ptr32 zero-extends: a negative x is 2**32 too large, but only the lower 32 bits of a product count.
"""

from .._viper import ptr16, ptr32


def dots(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row, row_bytes, w_first = int(x) + 4 * p[_X_START], 4 * p[_COLUMNS], int(w) + 2 * p[_W_START]
    one = 1  # a variable: constant folding would make big integers
    rows, at = p[_ROWS], p[_OUT_START]
    while rows:
        end = row + row_bytes
        stop, total, x = end - 12, 0, ptr32(row)
        while int(x) < end:
            total += x[0]
            x = ptr32(int(x) + 4)
        added = (total << 14) - (one << 30)
        channels, w = p[_CHANNELS], ptr16(w_first)
        while channels:
            total, x = 0, ptr32(row)
            while int(x) < stop:
                total += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
                x, w = ptr32(int(x) + 16), ptr16(int(w) + 8)
            while int(x) < end:
                total += x[0] * w[0]
                x, w = ptr32(int(x) + 4), ptr16(int(w) + 2)
            if row_bytes & 4:
                w = ptr16(int(w) + 2)
            out[at] = total - added
            at += 1
            channels -= 1
        row += 4 * p[_X_ROW_STRIDE]
        rows -= 1
