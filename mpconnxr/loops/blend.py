"""Weighted sums of four bytes in float32, then bytes again. Written once, for Python and viper.

Floats by their bits, products and sums rounded to even as IEEE 754 has them; none is negative but
the sums. A float is 2**23 .. 2**24 - 1 (here m, c, d, a) times a power of two (here n, e).

corners: the weights of a row's columns, each the product of one of the row's and one of its own.

    x    words, four a row of out: first bytes of the upper and lower row of x, their weights
    out  words, what blend takes as w: from 192 on for each column floats of the upper left, upper
         right, lower left and lower right byte; then the same times x_scale / y_scale, as
         integers in units of 2**-p[12]
    p    see below

estimate: out = byte of a * A + b * B + c * C + d * D by integers. The items that are nearer to the
middle between two bytes than a sum of integers or of floats is exact (2**11 units) are listed.

    out  bytes, planes (oh, ow)

blend: ((a * A + b * B) + c * C) + d * D by floats, for the items in the list.

    x    bytes, planes (H, W)
    w    words: the list, of up to 64 items (their places in out of estimate); 64 words from 64 on:
         mantissas of the sums; 64 from 128 on: twice their exponents, plus 1 if they are negative;
         the corners
    out  what is w
    p    first byte of the upper row, of the lower row, of the row of out; columns, bytes of a
         plane of x, of out; planes, zero point, flip, zero point of out, least byte of out, first
         word of the row in corners' x; bits behind the point of the integers, or 0 for none; upper
         and lower 12 bits of the 24 of x_scale / y_scale, and what they are shifted by for a
         weight of the exponent 0; next item (estimate goes on from there), items in the list;
         upper and lower 12 bits of the mantissa of x_scale, its exponent; then, four a column,
         its left and right byte in a row of x, their weights; then, for rounds, 31 parameters of
         loops/mean_bytes

rounds: the items of a row of all planes, by calls of these loops and of one of loops/mean_bytes.
"""

from ._floats import add, product
from ._words import set_at, split_sign, swap


def rounds(p: ptr32, w):
    """w: loops: estimate, blend, rounded of loops/mean_bytes; p, the last one's part of p; x, what
    corners gave, out

    Access: of the loops it calls
    """
    guess, add_up, finish, whole, rest = w[:5]
    x, words, out = w[5:8]
    while p[16] < p[3] * p[6]:
        guess(x, words, out, whole)
        add_up(x, words, words, whole)
        p[4 * p[3] + 43] = p[17]
        finish(words, words, out, rest)


def corners(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[11] + 2 : p[11] + 4] if p[3]
        reads p[23 : 4 * p[3] + 21]
        writes out[192 : 192 + 8 * p[3]]
    """
    i, stop = 0, 4 * p[3]
    while i < stop:
        c = x[p[11] + 2 + ((i >> 1) & 1)]
        d, m, v = p[23 + i - (i & 2)], 0, 0
        if c and d:
            e = (c >> 23) + (d >> 23) - 126
            c, d = (c & 8388607) | 8388608, (d & 8388607) | 8388608
            m, e, low = product(c, d, e)
            low = ((m & 4095) * p[13] + (m >> 12) * p[14]) >> 12
            v = (m >> 12) * p[13] + low
            low = min(p[15] - e, 30)
            v = v >> low
            m += (e - 1) << 23
            if e < 1:
                m = 0
        out[192 + i] = m
        out[192 + stop + i] = v
        i += 1


def estimate(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        columns, planes = p[3], p[6]
        sides = [p[21 + 4 * i + k] for i in range(columns) for k in range(2)]
        reads x[first + min(sides) : first + (planes - 1) * p[4] + max(sides) + 1]
            for first in p[0:2] if columns and planes
        reads p[21 : 4 * columns + 19]
        reads w[192 + 4 * columns : 192 + 8 * columns]
        writes w[0 : min(64, columns * planes)]
        writes out[p[2] : p[2] + (planes - 1) * p[5] + columns] if columns and planes
        writes p[16 : 18]
    """
    columns = p[3]
    col, plane, unsure = p[16] % columns, p[16] // columns, 0
    one = 1 << p[12]
    while plane < p[6] and unsure < 64:
        a, b, row = p[21 + 4 * col], p[22 + 4 * col], p[0] + plane * p[4]
        t = 192 + 4 * (columns + col)
        v = w[t] * ((x[row + a] ^ p[8]) - p[7]) + w[t + 1] * ((x[row + b] ^ p[8]) - p[7])
        row += p[1] - p[0]
        v += w[t + 2] * ((x[row + a] ^ p[8]) - p[7]) + w[t + 3] * ((x[row + b] ^ p[8]) - p[7])
        v += one >> 1
        a = v & (one - 1)
        if a > 2048 and a < one - 2048:
            v = min(max((v >> p[12]) + p[9], 0), 255)
            out[p[2] + plane * p[5] + col] = (v + p[10]) & 255
        else:
            w[unsure] = p[2] + plane * p[5] + col
            unsure += 1
        col += 1
        if col == columns:
            col = 0
            plane += 1
    t = set_at(p, 16, plane * columns + col)
    p[t + 1] = unsure


def blend(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        columns, planes, n = p[3], p[6], p[17]
        sides = [p[21 + 4 * i + k] for i in range(columns) for k in range(2)]
        given estimate has listed p[17] items in w
        reads x[first + min(sides) : first + (planes - 1) * p[4] + max(sides) + 1]
            for first in p[0:2] if columns and planes and n
        reads p[21 : 4 * columns + 19]
        reads w[0 : n]
        reads w[192 : 192 + 4 * columns]
        writes out[64 : 64 + n]
        writes out[128 : 128 + n]
    """
    for k in range(p[17]):
        col = w[k] - p[2]
        plane = col // p[5]
        col -= plane * p[5]
        a = e = sign = t = 0
        while t < 4:
            d = (x[p[t >> 1] + plane * p[4] + p[21 + 4 * col + (t & 1)]] ^ p[8]) - p[7]
            d, s = split_sign(d)
            c = w[192 + 4 * col + t]
            t += 1
            if c and d:
                low = d * p[19]
                d, low, n = d * p[18] + (low >> 12), low & 4095, 0
                while d >> (12 + n):
                    n += 1
                d = (d << (12 - n)) + (low >> n)
                low = low & ((1 << n) - 1)
                if 2 * low + (d & 1) > 1 << n:
                    d += 1
                n += (c >> 23) + p[20]
                c = (c & 8388607) | 8388608
                m, n, low = product(c, d, n)
                # The sum, with three more bits; the last one stands for all that is lost.
                m, a = m << 3, a << 3
                if not a or e < n:
                    a, m, c = swap(a, m)
                    e, n, c = swap(e, n)
                    sign, s, c = swap(sign, s)
                c = e - n
                if c < 0 or c > 27:
                    c = 27
                a, e, sign, m, low = add(a, e, sign, m, c, s)
        # 126 belongs to the product of two exponents.
        if e < 127:
            a, e = 0, 127
        out[64 + k] = a
        out[128 + k] = 2 * (e - 126) + sign
