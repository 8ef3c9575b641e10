"""Sums of short mantissas: see loops/short_dot. Viper form for 32-bit words.

The emitter keeps the first three locals in registers (two in .mpy files): the pointers, and the
sum cast to a pointer.
"""

import sys

from .._bytes import products_of_words
from .._hints import unroll
from .._viper import ptr16, ptr32

if sys.maxsize >> 31:
    raise ImportError("for words of 32 bits: loads have a sign there")


def dots(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row, row_bytes, w_first = int(x) + 4 * p[_X_START], 4 * p[_COLUMNS], int(w) + 2 * p[_W_START]
    sums = ptr32(int(out) + 4 * p[_OUT_START])
    i = 0
    one = 1  # a variable: constant folding would make big integers
    rows = p[_ROWS]
    if p[_CHANNELS] == 1:  # subtract 2**14 from each weight: the sum of x would take as long
        while rows:
            end = row + row_bytes
            stop, x, w = end - 12, ptr32(row), ptr16(w_first)
            out = ptr32(one << 30)
            while int(x) < stop:
                for j in unroll(4):
                    out = ptr32((w[j] - 16384) * x[j] + int(out))
                x, w = ptr32(16 + int(x)), ptr16(8 + int(w))
            while int(x) < end:
                out = ptr32((w[0] - 16384) * x[0] + int(out))
                x, w = ptr32(4 + int(x)), ptr16(2 + int(w))
            sums[i] = int(out)
            i += 1
            row += 4 * p[_X_ROW_STRIDE]
            rows -= 1
    while rows:
        end = row + row_bytes
        stop, x, out = end - 28, ptr32(row), ptr32(0)
        while int(x) < stop:
            out = ptr32(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + int(out))
            x = ptr32(32 + int(x))
        while int(x) < end:
            out, x = ptr32(x[0] + int(out)), ptr32(4 + int(x))
        added = (int(out) << 14) - (one << 30)
        w = ptr16(w_first)
        for channels in range(p[_CHANNELS], 0, -1):
            x, out = ptr32(row), ptr32(0)
            while int(x) < stop:
                out = products_of_words(out, x, w, 8)
                x, w = ptr32(32 + int(x)), ptr16(16 + int(w))
            while int(x) < end:
                out = ptr32(x[0] * w[0] + int(out))
                x, w = ptr32(4 + int(x)), ptr16(2 + int(w))
            if row_bytes & 4:
                w = ptr16(2 + int(w))
            sums[i] = int(out) - added
            i += 1
        row += 4 * p[_X_ROW_STRIDE]
        rows -= 1
