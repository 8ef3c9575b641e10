"""Exact sums of mantissas: see loops/block_dot. Viper form for 64-bit words.

ptr32 zero-extends: an element of x gets its sign back, once for two rows of weights, and only in
rows that have a negative element. The emitter keeps the first three locals in registers: in `x`,
cast to a pointer, an element, in `w` and `out` two sums.
"""

from .._hints import unroll
from .._viper import ptr32
from .._words import put_limbs


def dots(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    row, row_bytes, w_first = int(x) + 4 * p[_X_START], 4 * p[_COLUMNS], int(w) + 4 * p[_W_START]
    sums = out
    one = 1  # a variable: constant folding would make big integers
    rows, at = p[_ROWS], p[_OUT_START]
    while rows:
        end = row + row_bytes
        stop, signs, x = end - 28, 0, ptr32(row)
        w = ptr32(one << 40)
        while stop > int(x):
            out = ptr32(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs, x = signs | int(out), ptr32(32 + int(x))
        while end > int(x):
            out = ptr32(x[0])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs, x = signs | int(out), ptr32(4 + int(x))
        signs = signs >> 31  # the sum of eight elements that are not negative stays below that
        sums[at] = int(w) & 0xFFFFFF
        sums[at + 1] = int(w) >> 24
        sums[at + 2] = 0
        at += 3
        first, channels = ptr32(w_first), p[_CHANNELS]
        while channels:
            w = ptr32(one << 63)
            out, element = w, ptr32(row)
            second = first  # computed in vain for a single last row
            if channels > 1:
                second = ptr32(row_bytes + int(first))
            if signs:
                while int(element) < stop:
                    for i in unroll(8):
                        x = ptr32((element[i] << 32) >> 32)
                        w = ptr32(first[i] * int(x) + int(w))
                        out = ptr32(second[i] * int(x) + int(out))
                    element, first = ptr32(32 + int(element)), ptr32(32 + int(first))
                    second = ptr32(32 + int(second))
            else:
                while int(element) < stop:
                    for i in unroll(8):
                        x = ptr32(element[i])
                        w = ptr32(first[i] * int(x) + int(w))
                        out = ptr32(second[i] * int(x) + int(out))
                    element, first = ptr32(32 + int(element)), ptr32(32 + int(first))
                    second = ptr32(32 + int(second))
            while int(element) < end:
                x = ptr32((element[0] << 32) >> 32)
                w = ptr32(first[0] * int(x) + int(w))
                out = ptr32(second[0] * int(x) + int(out))
                element, first = ptr32(4 + int(element)), ptr32(4 + int(first))
                second = ptr32(4 + int(second))
            at = put_limbs(sums, at, int(w))
            channels -= 1
            if channels:
                at = put_limbs(sums, at, int(out))
                channels -= 1
                first = second
        row += 4 * p[_X_ROW_STRIDE]
        rows -= 1
