"""Bilinear interpolation of bytes with the rounding of float32.

An element of out is the byte of a * A + b * B + c * C + d * D: of two bytes in the upper row and
two in the lower row of x, and of their weights. Floats are computed on their bits; products and
sums are rounded to even as IEEE 754 does. Only sums may be negative. A float is 2**23 .. 2**24 - 1
(here a, c, d, m) times a power of two (here e, n).

corners   Begin a row: write its starts and the weights of its columns, each the product of a
          weight of the row and one of the column. x holds words like taps, for each row of out.
          out gets words from 192 on: for each column four floats for the upper left, upper right,
          lower left and lower right byte; then the same weights times x_scale / out_scale, as
          integers in units of 2**-point.
estimate  Write bytes from integer sums. List in w the elements of out closer to a tie than an
          integer or float sum is exact (2**11 units). x holds planes, w the words of corners.
blend     Write ((a * A + b * B) + c * C) + d * D, computed as floats, for the listed elements.
rows      Compute rows of all planes, by calls of these loops and of rounded of loops/mean_bytes.

w of blend, also its out, holds words: the list of up to 64 indices in out of estimate; from 64 on
64 mantissas of sums; from 128 on twice their exponents, plus 1 if negative; then the words of
corners. taps holds four words per column: the indices of its left and right byte in a row of x,
and their weights.
"""

from ._floats import add, product
from ._words import set_at, split_sign, swap
from .means import _LISTED as _MEANS_LISTED

# Parameters of rows, corners, estimate, blend
_UPPER_START = const(0)  # of the upper row in x; set by corners [bytes] 0..
_LOWER_START = const(1)  # of the lower row in x; set by corners [bytes] 0..
_OUT_START = const(2)  # of the row of out; set by corners [bytes] 0..
_NEXT_ELEMENT = const(3)  # in all planes, for estimate; set by both [elements] 0..
_LISTED = const(4)  # elements in the list, set by estimate [elements] 0..64
_ROW = 5  # the next one of out [rows] 0..
_ROW_END = 6  # end, exclusive [rows] 0..
_COLUMNS = const(7)  # of out [bytes] 1..
_X_PLANE_STRIDE = const(8)  # from plane to plane of x [bytes] 1..
_OUT_PLANE_STRIDE = const(9)  # from plane to plane of out [bytes] 1..
_PLANES = const(10)  # [planes] 1..
_X_ZERO_POINT = const(11)  # of x ^ flip [value] 0..255
_FLIP = const(12)  # 128 if x is signed [mask] 0, 128
_OUT_ZERO_POINT = const(13)  # unsigned [value] 0..255
_OUT_LEAST = const(14)  # least byte of out [value] 0, 128
_POINT = const(15)  # fraction bits of integer sums; 0: floats only [bits] 0..28
_RATIO_HIGH = const(16)  # the upper 12 bits of x_scale / out_scale [value] 0..4095
_RATIO_LOW = const(17)  # its lower 12 bits [value] 0..4095
_RATIO_SHIFT = const(18)  # right shift of ratio times a weight of exponent 0 [bits] 127..
_X_SCALE_HIGH = const(19)  # the upper 12 bits of the mantissa of x_scale [value] 2048..4095
_X_SCALE_LOW = const(20)  # its lower 12 bits [value] 0..4095
_X_SCALE_EXPONENT = const(21)  # biased [exponent] 67..187
_TAPS = 22  # of each column, see above; then a block of means.means [words x n]


def rows(p: ptr32, w):
    """Compute rows `row` to row_end - 1 of all planes.

    w lists loops corners, estimate, blend and rounded of loops/mean_bytes; p; the part of p for
    rounded; x of corners; x; the words of corners; out.

    Access: of the loops it calls
    """
    begin, guess, add_up, finish, whole, rest = w[:6]
    taps, x, words, out = w[6:10]
    first_row = p[_ROW]
    while p[_ROW] < p[_ROW_END]:
        begin(taps, words, words, whole)
        while p[_NEXT_ELEMENT] < p[_COLUMNS] * p[_PLANES]:
            guess(x, words, out, whole)
            add_up(x, words, words, whole)
            p[4 * p[_COLUMNS] + (_TAPS + _MEANS_LISTED)] = p[_LISTED]
            finish(words, words, out, rest)
        i = set_at(p, _ROW, p[_ROW] + 1)
    i = set_at(p, _ROW, first_row)


def corners(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Begin a row.

    Access:
        reads x[4 * row : 4 * row + 4]
        reads p[24 : 4 * columns + 22]
        writes out[192 : 192 + 8 * columns]
        writes p[0 : 4]
    """
    i = set_at(p, _UPPER_START, x[4 * p[_ROW]])
    p[i + (_LOWER_START - _UPPER_START)] = x[4 * p[_ROW] + 1]
    p[i + (_OUT_START - _UPPER_START)] = p[_ROW] * p[_COLUMNS]
    p[i + (_NEXT_ELEMENT - _UPPER_START)] = 0
    i, stop = 0, 4 * p[_COLUMNS]
    while i < stop:
        c = x[4 * p[_ROW] + 2 + ((i >> 1) & 1)]
        d, m, v = p[(_TAPS + 2) + i - (i & 2)], 0, 0
        if c and d:
            e = (c >> 23) + (d >> 23) - 126
            c, d = (c & 8388607) | 8388608, (d & 8388607) | 8388608
            m, e, low = product(c, d, e)
            low = ((m & 4095) * p[_RATIO_HIGH] + (m >> 12) * p[_RATIO_LOW]) >> 12
            v = (m >> 12) * p[_RATIO_HIGH] + low
            low = min(p[_RATIO_SHIFT] - e, 30)
            v = v >> low
            m += (e - 1) << 23
            if e < 1:
                m = 0
        out[192 + i] = m
        out[192 + stop + i] = v
        i += 1


def estimate(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Write bytes from integer sums and list those near a tie.

    Access:
        sides = [taps[4 * i + k] for i in range(columns) for k in range(2)]
        reads x[first + min(sides) : first + (planes - 1) * x_plane_stride + max(sides) + 1]
            for first in (upper_start, lower_start) if columns and planes
        reads p[22 : 4 * columns + 20]
        reads w[192 + 4 * columns : 192 + 8 * columns]
        writes w[0 : min(64, columns * planes)]
        writes out[out_start : out_start + (planes - 1) * out_plane_stride + columns]
            if columns and planes
        writes p[3 : 5]
    """
    columns = p[_COLUMNS]
    column, plane, listed = p[_NEXT_ELEMENT] % columns, p[_NEXT_ELEMENT] // columns, 0
    one = 1 << p[_POINT]
    while plane < p[_PLANES] and listed < 64:
        a, b, row = (
            p[_TAPS + 4 * column],
            p[(_TAPS + 1) + 4 * column],
            p[_UPPER_START] + plane * p[_X_PLANE_STRIDE],
        )
        at = 192 + 4 * (columns + column)
        v = w[at] * ((x[row + a] ^ p[_FLIP]) - p[_X_ZERO_POINT]) + w[at + 1] * (
            (x[row + b] ^ p[_FLIP]) - p[_X_ZERO_POINT]
        )
        row += p[_LOWER_START] - p[_UPPER_START]
        v += w[at + 2] * ((x[row + a] ^ p[_FLIP]) - p[_X_ZERO_POINT]) + w[at + 3] * (
            (x[row + b] ^ p[_FLIP]) - p[_X_ZERO_POINT]
        )
        v += one >> 1
        a = v & (one - 1)
        if a > 2048 and a < one - 2048:
            v = min(max((v >> p[_POINT]) + p[_OUT_ZERO_POINT], 0), 255)
            out[p[_OUT_START] + plane * p[_OUT_PLANE_STRIDE] + column] = (v + p[_OUT_LEAST]) & 255
        else:
            w[listed] = p[_OUT_START] + plane * p[_OUT_PLANE_STRIDE] + column
            listed += 1
        column += 1
        if column == columns:
            column = 0
            plane += 1
    at = set_at(p, _NEXT_ELEMENT, plane * columns + column)
    p[at + (_LISTED - _NEXT_ELEMENT)] = listed


def blend(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Compute the listed elements as floats.

    Access:
        sides = [taps[4 * i + k] for i in range(columns) for k in range(2)]
        given estimate has written its list to w
        reads x[first + min(sides) : first + (planes - 1) * x_plane_stride + max(sides) + 1]
            for first in (upper_start, lower_start) if columns and planes and listed
        reads p[22 : 4 * columns + 20]
        reads w[0 : listed]
        reads w[192 : 192 + 4 * columns]
        writes out[64 : 64 + listed]
        writes out[128 : 128 + listed]
    """
    for k in range(p[_LISTED]):
        column = w[k] - p[_OUT_START]
        plane = column // p[_OUT_PLANE_STRIDE]
        column -= plane * p[_OUT_PLANE_STRIDE]
        a = e = sign = corner = 0
        while corner < 4:  # p has the start of the lower row after that of the upper
            d = (
                x[
                    p[corner >> 1]
                    + plane * p[_X_PLANE_STRIDE]
                    + p[_TAPS + 4 * column + (corner & 1)]
                ]
                ^ p[_FLIP]
            ) - p[_X_ZERO_POINT]
            d, value_sign = split_sign(d)
            c = w[192 + 4 * column + corner]
            corner += 1
            if c and d:
                low = d * p[_X_SCALE_LOW]
                d, low, n = d * p[_X_SCALE_HIGH] + (low >> 12), low & 4095, 0
                while d >> (12 + n):
                    n += 1
                d = (d << (12 - n)) + (low >> n)
                low = low & ((1 << n) - 1)
                if 2 * low + (d & 1) > 1 << n:
                    d += 1
                n += (c >> 23) + p[_X_SCALE_EXPONENT]
                c = (c & 8388607) | 8388608
                m, n, low = product(c, d, n)
                # The sum with guard, round and sticky bits.
                m, a = m << 3, a << 3
                if not a or e < n:
                    a, m, c = swap(a, m)
                    e, n, c = swap(e, n)
                    sign, value_sign, c = swap(sign, value_sign)
                c = e - n
                if c < 0 or c > 27:
                    c = 27
                a, e, sign, m, low = add(a, e, sign, m, c, value_sign)
        # 126 is the bias of a product of two exponents.
        if e < 127:
            a, e = 0, 127
        out[64 + k] = a
        out[128 + k] = 2 * (e - 126) + sign
