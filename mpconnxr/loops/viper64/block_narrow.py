"""Exact sums of mantissas with narrow weights: see loops/block_narrow. Viper, 64-bit words.

ptr32 zero-extends: x gets its sign back.
"""

from .._viper import ptr8, ptr16, ptr32
from .._words import put_limbs


def dots(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    one = 1  # a variable: constant folding would make big integers
    sign, bits, row = one << 31, p[_BITS], p[_X_START]
    rows, at = p[_ROWS], p[_OUT_START]
    while rows:
        end, total = row + p[_COLUMNS], one << 40
        for i in range(row, end):
            total += (x[i] ^ sign) - sign
        channels, j = p[_CHANNELS], p[_W_START]
        if bits == 4:
            j += j
        while True:
            at = put_limbs(out, at, total)
            if channels == 0:
                break
            channels -= 1
            total, i = 0, row
            if bits == 8:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * w[j]
                    i += 1
                    j += 1
            elif bits == 16:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * ptr16(w)[j]
                    i += 1
                    j += 1
            else:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * ((w[j >> 1] >> ((j & 1) << 2)) & 15)
                    i += 1
                    j += 1
                j += j & 1
            total = (total << (24 - bits)) + (one << 63)
        row += p[_X_ROW_STRIDE]
        rows -= 1
