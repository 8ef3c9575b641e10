"""Convolution of float32 with one channel and equal weights, as sums of windows times the weight.

same      Write the weight and its exponent; 0 unless all weights are equal and positive.
columns   Sum the columns of the windows of a row of out.
results   Sum these columns and multiply them by the weight.
averages  Call these for all rows; leave weights that differ or are not positive, and images with
          inf or NaN, to loops/block_pieces.

x holds float32 as words, for same mantissas as in loops/block with their exponents in w. Elements
of the image are rounded to units of 2**(exponent - 150 - bits), half away from 0; bits is so small
that sums of a window stay below 2**30. A sum is rounded to 29 bits before it is multiplied; the
product is truncated, and the result is rounded half away from 0.
"""

from ._floats import weighed_sum
from ._hints import far, inline
from ._words import bit, set_at
from .block_pieces import _ROW_END, _ROW_START

# Parameters of averages: as block_pieces.pieces
_PART = 75  # parameters of same, columns and results [words x 21]

# Parameters of same, columns, results
_WEIGHT = const(0)  # of all; 0: they differ, or are not positive [mantissa] 0..2**23 - 1
_WEIGHT_EXPONENT = const(1)  # [exponent] 0..255
_KERNEL_SIZE = const(2)  # of a window [elements] 1..

# Parameters of columns, results
_OUT_ROW = const(3)  # [rows] 0..
_X_START = 4  # [elements] 0..
_ROWS = const(5)  # of x [elements] 0..
_COLUMNS = const(6)  # of x [elements] 0..
_KERNEL_ROWS = const(7)  # [elements] 1..
_KERNEL_COLUMNS = const(8)  # [elements] 1..
_ROW_STRIDE = const(9)  # of windows [elements] 1..
_COLUMN_STRIDE = const(10)  # of windows [elements] 1..
_ROW_DILATION = const(11)  # [elements] 0..
_COLUMN_DILATION = const(12)  # [elements] 0..
_TOP_PADDING = const(13)  # [elements, BIAS]
_LEFT_PADDING = const(14)  # [elements, BIAS]
_OUT_COLUMNS = const(15)  # [elements] 1..
_OUT_START = 16  # [elements] 0..
_OUT_ROW_STRIDE = const(17)  # [elements] 0..
_OUT_COLUMN_STRIDE = const(18)  # [elements] 0..
_EXPONENT = const(19)  # of the image [exponent] 1..254
_BITS = const(20)  # bits of a sum below the 24 of the image's largest element [bits] 0..6


@inline
def clip(n, at, step, size):
    """Return the first of n taps from `at` on that is inside 0 .. size - 1, and how many are.

    Temporary: at.
    """
    first = 0
    while n and at < 0:
        at += step
        first += 1
        n -= 1
    at += (n - 1) * step
    while n and at >= size:
        at -= step
        n -= 1
    return first, n, at


def averages(p: ptr32, w):
    """Compute all rows.

    w is that of loops/block_pieces, then loops pieces, same, columns, results and their part of p.

    Access: of the loops it calls
    """
    pieces, same, columns, results, part = w[16:21]
    whole_p, x, weights, exponents = w[5], w[10], w[11], w[13]
    scratch, out = w[14], w[15]
    same(weights, exponents, x, part)
    row, exponent = p[_ROW_START], int(scratch[0])
    if p[_PART + _WEIGHT] == 0 or exponent == 255:
        pieces(whole_p, w)
        row = p[_ROW_END]
    exponent = max(exponent, 1)
    i = set_at(p, _PART + _EXPONENT, exponent)
    while row < p[_ROW_END]:
        i = set_at(p, _PART + _OUT_ROW, row)
        columns(x, x, scratch, part)
        results(scratch, scratch, out, part)
        row += 1


def same(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Write the common weight and its exponent.

    Access:
        reads x[0 : kernel_size]
        reads w[0 : 1]
        writes p[0 : 2]
    """
    v = x[0] & 0xFFFFFF
    for i in range(p[_KERNEL_SIZE]):
        if x[i] != v:
            v = 0
    i = _WEIGHT
    p[i] = v - (1 << 23) if v > 1 << 23 else 0
    p[i + 1] = w[0]  # the exponent


def columns(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sum the columns of the windows of a row.

    Access:
        reads x[x_start : x_start + rows * columns]
        writes out[0 : columns]
        given magnitude(x[x_start : x_start + rows * columns]) < exponent + 1 << 23
        given kernel_rows << bits < 128
        given out_row * row_stride - top_padding < rows
    """
    bias, n, width = 1 << 29, p[_KERNEL_ROWS], p[_COLUMNS]
    at = p[_OUT_ROW] * p[_ROW_STRIDE] + bias - p[_TOP_PADDING]
    first = at
    i, n, at = clip(n, at, p[_ROW_DILATION], p[_ROWS])
    first += i * p[_ROW_DILATION]
    most, bits = p[_EXPONENT], p[_BITS] + 1
    for i in range(width):
        out[i] = 0
    i = p[_X_START] + first * width
    while n:
        for k in range(width):
            v = x[i]
            i += 1
            shift, mantissa = (v >> 23) & 255, v & 0x7FFFFF
            if shift:
                mantissa = mantissa | 0x800000
                shift = most - shift
            else:
                shift = most - 1
            if shift < 30:
                mantissa = ((mantissa << bits >> shift) + 1) >> 1
                if (v >> 31) & 1:
                    mantissa = 0 - mantissa
                out[k] = out[k] + mantissa
        i += (p[_ROW_DILATION] - 1) * width
        n -= 1


def results(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sum columns to windows and multiply them by the weight.

    Access:
        reads x[0 : columns]
        start = out_start + out_row * out_row_stride
        writes out[start : start + (out_columns - 1) * out_column_stride + 1]
        given 0 - (1 << 30) // kernel_columns < x[0 : columns] < (1 << 30) // kernel_columns
        given apart((out_columns, out_column_stride))
    """
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    weight = p[_WEIGHT] << 6
    exponent = p[_EXPONENT] + p[_WEIGHT_EXPONENT] - p[_BITS] - 122
    at, specials = p[_OUT_START] + p[_OUT_ROW] * p[_OUT_ROW_STRIDE], 0
    first = (1 << 29) - p[_LEFT_PADDING]
    for column in far(range(p[_OUT_COLUMNS])):
        i, n = first, p[_KERNEL_COLUMNS]
        if i < 0 or i + (n - 1) * p[_COLUMN_DILATION] >= p[_COLUMNS]:
            last = i
            m, n, last = clip(n, last, p[_COLUMN_DILATION], p[_COLUMNS])
            i += m * p[_COLUMN_DILATION]
        total = 0
        while n:
            v = x[i]
            if (v >> 31) & 1:
                v = 0 - ((0 - v) & (top - 1))
            total += v
            i += p[_COLUMN_DILATION]
            n -= 1
        if total:
            v, most = total, exponent
            v = abs(v)
            if v >> 29:
                v = (v + 1) >> 1
                most += 1
            while v < 1 << 24:
                v = v << 4
                most -= 4
            while v < 1 << 28:
                v = v << 1
                most -= 1
            n = v >> 15
            v = v & 32767
            v = (n * (weight >> 15) << 2) + ((n * (weight & 32767) + v * (weight >> 15)) >> 13)
            if total < 0:
                v = 0 - v
            total = v
            total, most, n, v = weighed_sum(total, most, specials, infinity, top)
        out[at] = total
        at += p[_OUT_COLUMN_STRIDE]
        first += p[_COLUMN_STRIDE]
