"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows.

See loops/block. Written once, in the common subset of Python and viper.
"""

from ._floats import largest_bits, unpack
from ._words import all_but_sign, set_at


def batches(p: ptr32, w):
    """Products of loops/block_products whose weights become mantissas, a batch of them at a time.

    p    as there; then 74 what rows takes, 81 batches of weights to advance a step of n0 and n1,
         83 what peak takes for the word that rows makes of inf and nan: p[86] gets it
    w    as there; then loops products and rows, the parts of p from 74 and from 83 on

    Access: of the loops it calls
    """
    special, whole, floats, scratch = w[4], w[5], w[12], w[14]
    peak, products, rows, rows_p, flag_p = w[16], w[18], w[19], w[20], w[21]
    last, held = p[1], 0 - 1
    while p[0] < last:
        batch = p[0] // p[2]
        first = (batch // p[6] * p[81] + batch % p[6] * p[82]) * p[4] * (p[3] + p[80])
        if first != held:
            held = first
            i = set_at(p, 74, first)
            i = set_at(p, 13, first + p[3])
            rows(floats, floats, scratch, rows_p)
            peak(scratch, scratch, whole, flag_p)
        n = min(p[2] - p[0] % p[2], last - p[0])
        i = set_at(p, 1, p[0] + n)
        if p[86] < 255:
            products(whole, w)
        while p[0] < p[1]:
            special(whole, w)
            i = set_at(p, 0, p[0] + 1)


def rows(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item of x, rows, K, first item of out for mantissas, the same for exponents, item
    that becomes inf if a value is inf or nan, else 0, has_bias (0 or 1): it lies behind its row

    Access:
        rows, k = p[1:3]
        reads x[p[0] : p[0] + rows * (k + (1 if p[6] else 0))]
        writes out[p[3] : p[3] + rows * k]
        writes out[p[4] : p[4] + rows]
        writes out[p[5] : p[5] + 1]
    """
    mask = all_but_sign()
    half, i, at = 1 << 23, p[0], p[3]
    item, rows, special = p[4], p[1], 0
    while rows:
        end, most = i + p[2], 0
        most, i, v = largest_bits(most, x, i, end, mask)
        block = most >> 23
        if block == 255:
            special = 255
        elif block == 0:
            block = 1
        i = end - p[2]
        while i < end:
            v = x[i]
            m, e = unpack(v)
            if e:
                m += half
            else:
                e = 1
            e = block - e
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
        out[item] = block
        item += 1
        if p[6]:
            if (x[i] >> 23) & 255 == 255:
                special = 255
            i += 1
        rows -= 1
    i = p[5]
    out[i] = special << 23
