"""Dot products of bytes with requantization: see loops/qdot. Viper form.

The emitter keeps the first three locals in registers (two in .mpy files). The hot ones of the
inner loops are the pointer to x, the sum, and the pointer to the weights: so the sum is kept in
`w`, cast to a pointer, and `out` points to the weights; in qdots8_many, whose weights lie in
several places, `out` points to the elements and `x` to the weights. After the sum, the registers
serve requantization. In a comparison or a product, an operand in memory stands first, which saves
a move.

Most values are requantized by one product, a / 2**10 times M / 2**16, both rounded down: the exact
product divided by 2**26 lies between 2**15 less and 2**16 more. If all of these round to the same
step, the rest is not needed; near a tie it is. There, bits 17 to 20 are zero once the constant has
been added: a sixteenth of all values, found by one test.

qdots8_many unpacks a channel's table once for all positions. Its sums start with the limit of v,
so that sums within the limits are those of few bits. Elements are processed in blocks of 24, 8 and
4, so that a short row takes few tests.
"""

from .._bytes import (
    fast_path,
    products,
    products_from,
    put,
    scale_to_limits,
    to_even,
)
from .._hints import far, unroll
from .._viper import ptr8, ptr32


def qdots8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    results, first, weights = out, int(x) + p[_X_START], int(w) + p[_W_START]
    tables = int(x) if p[_IS_TABLE_IN_X] else int(w)
    at, bias = p[_OUT_START], 1 << 29
    sign = bias << 2  # constant folding of 1 << 31 would make an object
    zero_point, least, most = p[_OUT_ZERO_POINT] - bias, p[_LOW] - bias, p[_HIGH] - bias
    middle = (zero_point << 21) + 1146816
    for positions_left in range(p[_POSITIONS], 0, -1):
        table, row, end = ptr32(tables + p[_TABLE_START]), weights, first + p[_COLUMNS]
        last, x, w = end - 15, ptr8(first), ptr8(0)
        if p[_HAS_SUMS]:
            w = ptr8(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                w = ptr8(int(w) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(4 + int(x))
        zero_sum, place, of_tile = p[_W_ZERO_POINT] * int(w), at, 0
        for channels_left in range(p[_CHANNELS], 0, -1):
            x, out, w = ptr8(first), ptr8(row), ptr8(0)
            if channels_left > 3 or of_tile:
                while int(x) < last:
                    for of_four in unroll(4):
                        w = products_from(w, x, 4 * of_four, out, 16 * of_four, 4)
                    x, out = ptr8(16 + int(x)), ptr8(64 + int(out))
                while int(x) < end:
                    w = products(w, x, out, 4)
                    x, out = ptr8(4 + int(x)), ptr8(16 + int(out))
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[_COLUMNS] * 4 - 16
            else:
                while int(x) < end:
                    w = products(w, x, out, 4)
                    x, out = ptr8(4 + int(x)), ptr8(4 + int(out))
                row += p[_COLUMNS]
            x, v = ptr8(table[0] & 31), ((table[0] ^ sign) - sign) >> 5
            if int(x) > 25:
                v = v << (int(x) - 25)
            w = ptr8(int(w) - zero_sum + v)
            out = ptr8(table[1])
            v = 0  # not on the fast path
            if int(x) < 26 and not (((int(w) >> (25 - int(x))) + 1) >> 1):
                v = ((int(w) << int(x)) >> 10) * ((int(out) >> 16) & 32767) + middle
            if 1966080 & v:
                v = v >> 21
            else:
                if int(x) > 25:
                    w = ptr8(int(w) >> (int(x) - 25))
                    x = ptr8(0)
                v = (1 << 25) >> int(x)
                if int(w) > v:
                    w = ptr8(v)
                if int(w) < 0 - v:
                    w = ptr8(0 - v)
                w = ptr8(int(w) << int(x))
                x, w, v, low, lowest = to_even(w, int(out))
                v = int(x) + zero_point
            v = min(max(v, least), most)
            results[place] = v
            place += p[_OUT_CHANNEL_STRIDE]
            table = ptr32(8 + int(table))
        first += p[_X_POSITION_STRIDE]
        at += p[_OUT_POSITION_STRIDE]


def qdots8_many(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    place, start, row = int(out) + p[_OUT_START], int(x) + p[_X_START] - 4, int(w) + p[_W_START]
    table = ptr32((int(x) if p[_IS_TABLE_IN_X] else int(w)) + p[_TABLE_START])
    bias = 1 << 29
    sign = bias << 2
    is_wide, least, most = sign << 1, p[_LOW] - bias, p[_HIGH] - bias
    middle = ((p[_OUT_ZERO_POINT] - bias) << 21) + 1146816
    pitch, columns, minus_zero_point = p[_OUT_POSITION_STRIDE], p[_COLUMNS], 0 - p[_W_ZERO_POINT]
    tiled, span, step = p[_CHANNELS] & -4, columns * 4, 16
    blocks, left = columns // 24, columns % 24
    sixteen, eight, four = left & 16, left & 24, left & 4
    of_tile, channel = 3, 0
    while far(channel != p[_CHANNELS]):
        if channel == tiled:
            span, step, blocks = columns, 4, 0
            sixteen, eight, four, of_tile = 0, 0, 4, 0
        end = row + span
        last, f, limit = end - 95, table[0] & 31, 0
        shift = factor = 0
        addend = 0  # so that no value takes the fast path
        bits = 0
        if f < 26:
            limit, factor, addend, bits, shift = fast_path(f, table[1], middle)
        c = table[0]
        if is_wide:
            c = (c ^ sign) - sign
        c = (c >> 5) << (f - 25) if f > 25 else (c >> 5) + limit
        at, out = place, ptr8(start)
        for positions_left in range(p[_POSITIONS], 0, -1):
            w = ptr8(ptr32(out)[0] * minus_zero_point + c)
            out, x = ptr8(4 + int(out)), ptr8(row)
            if blocks:
                while last > int(x):
                    w = products(w, x, out, 4)
                    w = products_from(w, x, 16, out, 4, 4)
                    x = ptr8(32 + int(x))
                    w = products_from(w, x, 0, out, 8, 4)
                    w = products_from(w, x, 16, out, 12, 4)
                    x = ptr8(32 + int(x))
                    w = products_from(w, x, 0, out, 16, 4)
                    w = products_from(w, x, 16, out, 20, 4)
                    x, out = ptr8(32 + int(x)), ptr8(24 + int(out))
            if sixteen:
                w = products(w, x, out, 4)
                w = products_from(w, x, 16, out, 4, 4)
                x, out = ptr8(32 + int(x)), ptr8(8 + int(out))
            if eight:
                w = products(w, x, out, 4)
                w = products_from(w, x, 16, out, 4, 4)
                x, out = ptr8(32 + int(x)), ptr8(8 + int(out))
            if four:
                while end > int(x):
                    w = products(w, x, out, 4)
                    x, out = ptr8(step + int(x)), ptr8(4 + int(out))
            x = ptr8((int(w) >> shift) * factor + addend)
            if int(w) >> bits or not 1966080 & int(x):
                w = ptr8(int(w) - limit)
                w, x, v = scale_to_limits(w, f)
                x, w, v, low, lowest = to_even(w, table[1])
                x = ptr8(int(x) + p[_OUT_ZERO_POINT] - bias)
            else:
                x = ptr8(int(x) >> 21)
            at, x, w = put(x, at, pitch, least, most)
        place += p[_OUT_CHANNEL_STRIDE]
        table = ptr32(8 + int(table))
        channel += 1
        row += 4
        if not channel & of_tile:
            row += span - step
