"""Weights known only at run time: rows of floats to mantissas, each row with its exponent.

See loops/block.
"""

from ._floats import largest_bits, unpack
from ._words import all_but_sign, set_at
from .block_products import _BIAS_START, _CHANNELS, _INNER_BATCHES, _ROW_END, _ROW_START
from .block_products import _COLUMNS as _BATCH_COLUMNS
from .block_products import _ROWS as _BATCH_ROWS

# Parameters of batches: as block_products.products
_ROWS_X_START = 74  # parameters of rows: start [elements] 0..
_ROWS_ROWS = 75  # of x [rows] 1..
_ROWS_COLUMNS = const(76)  # of a row [elements] 0..65535
_ROWS_OUT_START = const(77)  # of mantissas [elements] 0..
_ROWS_EXPONENT_START = const(78)  # start of the rows' exponents [elements] 0..
_ROWS_FLAG_START = const(79)  # index in out of a flag: inf for inf or NaN, else 0 [elements] 0..
_ROWS_HAS_BIAS = 80  # a bias lies behind each row [flag] 0, 1
_FLOATS_OUTER_STRIDE = 81  # of weights, from outer to outer batch [batches] 0..
_FLOATS_INNER_STRIDE = 82  # of weights, from inner to inner batch [batches] 0..
_FLAG_X_START = 83  # parameters of block.peak for the flag: start [elements] 0..
_FLAG_ELEMENTS = const(84)  # [elements] 1
_FLAG_OUT_START = const(85)  # index of flag_exponent in this block [words] 86
_FLAG_EXPONENT = 86  # 255 if a weight or a bias is inf or NaN [exponent] 0..255

# Parameters of rows
_X_START = const(0)  # [elements] 0..
_ROWS = const(1)  # of x [rows] 1..
_COLUMNS = const(2)  # of a row [elements] 0..65535
_OUT_START = const(3)  # of mantissas [elements] 0..
_EXPONENT_START = const(4)  # start of the rows' exponents [elements] 0..
_FLAG_START = const(5)  # index in out of a flag: inf for inf or NaN, else 0 [elements] 0..
_HAS_BIAS = const(6)  # a bias lies behind each row [flag] 0, 1


def batches(p: ptr32, w):
    """Compute rows of loops/block_products, converting weights to mantissas batch by batch.

    w as there, then loops products and rows, the part of p for rows, and that of peak for the
    flag.

    Access: of the loops it calls
    """
    special, whole, floats, scratch = w[4], w[5], w[12], w[14]
    peak, products, rows, rows_p, flag_p = w[16], w[18], w[19], w[20], w[21]
    first_row, end, unpacked = p[_ROW_START], p[_ROW_END], 0 - 1
    row = first_row
    while row < end:
        i = set_at(p, _ROW_START, row)
        batch = row // p[_BATCH_ROWS]
        first = (
            (
                batch // p[_INNER_BATCHES] * p[_FLOATS_OUTER_STRIDE]
                + batch % p[_INNER_BATCHES] * p[_FLOATS_INNER_STRIDE]
            )
            * p[_CHANNELS]
            * (p[_BATCH_COLUMNS] + p[_ROWS_HAS_BIAS])
        )
        if first != unpacked:
            unpacked = first
            i = set_at(p, _ROWS_X_START, first)
            i = set_at(p, _BIAS_START, first + p[_BATCH_COLUMNS])
            rows(floats, floats, scratch, rows_p)
            peak(scratch, scratch, whole, flag_p)
        batch_rows = min(p[_BATCH_ROWS] - row % p[_BATCH_ROWS], end - row)
        row += batch_rows
        i = set_at(p, _ROW_END, row)
        if p[_FLAG_EXPONENT] < 255:
            products(whole, w)
        else:
            while p[_ROW_START] < row:
                special(whole, w)
                i = set_at(p, _ROW_START, p[_ROW_START] + 1)
    i = set_at(p, _ROW_START, first_row)
    i = set_at(p, _ROW_END, end)


def rows(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write mantissas as loops/block stores weights, the exponents of the rows, and the flag.

    Access:
        reads x[x_start : x_start + rows * (columns + has_bias)]
        writes out[out_start : out_start + rows * columns]
        writes out[exponent_start : exponent_start + rows]
        writes out[flag_start : flag_start + 1]
    """
    mask = all_but_sign()
    half, i, at = 1 << 23, p[_X_START], p[_OUT_START]
    exponent_place, rows, special = p[_EXPONENT_START], p[_ROWS], 0
    while rows:
        end, most = i + p[_COLUMNS], 0
        most, i, v = largest_bits(most, x, i, end, mask)
        exponent = most >> 23
        if exponent == 255:
            special = 255
        elif exponent == 0:
            exponent = 1
        i = end - p[_COLUMNS]
        while i < end:
            v = x[i]
            m, e = unpack(v)
            if e:
                m += half
            else:
                e = 1
            e = exponent - e
            if e > 23:
                m = 0
            else:
                m = (m + (1 << e)) >> (e + 1)
                if m == half:
                    m = half - 1
            if (v >> 31) & 1:
                m = 0 - m
            out[at] = m + half
            at += 1
            i += 1
        out[exponent_place] = exponent
        exponent_place += 1
        if p[_HAS_BIAS]:
            if (x[i] >> 23) & 255 == 255:
                special = 255
            i += 1
        rows -= 1
    i = p[_FLAG_START]
    out[i] = special << 23
