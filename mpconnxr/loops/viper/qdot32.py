"""Dot products of bytes as int32: see loops/qdot32. Viper form, like loops/viper/qdot."""

from .._bytes import products_of_words
from .._viper import ptr8, ptr32


def qdots32(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    results, first, weights, zero = out, int(x) + p[_X_START], int(w), p[_X_ZERO_POINT]
    if p[_ZERO_START]:
        zero = x[p[_ZERO_START]]
    at = p[_OUT_START]
    for positions_left in range(p[_POSITIONS], 0, -1):
        table, row, end = (
            ptr32(weights + p[_TABLE_START]),
            weights + p[_W_START],
            first + p[_COLUMNS],
        )
        x, out = ptr8(first), ptr32(0)
        if p[_HAS_SUMS]:
            out = ptr32(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                out = ptr32(int(out) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(4 + int(x))
        zero_sum, place, of_tile = p[_W_ZERO_POINT] * int(out), at, 0
        for channels_left in range(p[_CHANNELS], 0, -1):
            x, w, out = ptr8(first), ptr8(row), ptr32(0)
            if channels_left > 3 or of_tile:
                while int(x) < end:
                    out = products_of_words(out, x, w, 4)
                    x, w = ptr8(4 + int(x)), ptr8(16 + int(w))
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[_COLUMNS] * 4 - 16
            else:
                while int(x) < end:
                    out = products_of_words(out, x, w, 4)
                    x, w = ptr8(4 + int(x)), ptr8(4 + int(w))
                row += p[_COLUMNS]
            results[place] = int(out) - zero_sum + table[0] + zero * table[1]
            place += p[_OUT_CHANNEL_STRIDE]
            table = ptr32(8 + int(table))
        first += p[_X_POSITION_STRIDE]
        at += p[_OUT_POSITION_STRIDE]
