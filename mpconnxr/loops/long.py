"""Sums of int64 as words, the low one first. Written once, in the common subset of Python and
viper.

x, w, out  int64 as words
p          of x first item, from row to row, from item to item; of w likewise; first item of out,
           rows, items of a row; 1: differences
"""

from ._hints import inline
from ._words import all_but_sign, pairs


@inline
def put(out, at, high, low, mask):
    """Set out[at] to 16 bits and 16 bits, as a word with its sign. low: room."""
    low = (high & 32767) << 16 | low & 0xFFFF
    if high & 32768:
        low -= mask + 1
    out[at] = low
    return low


def add64(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[2 * p[0] : 2 * (p[0] + (rows - 1) * p[1] + (n - 1) * p[2]) + 2] if rows and n
        reads w[2 * p[3] : 2 * (p[3] + (rows - 1) * p[4] + (n - 1) * p[5]) + 2] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    mask = all_but_sign()
    flip = 0xFFFF if p[9] else 0
    i, j, k = p[0], p[3], p[6]
    for i, j, k, end, last in pairs(i, j, k, p):
        v = w[2 * j]
        low = (x[2 * i] & 0xFFFF) + ((v & 0xFFFF) ^ flip) + p[9]
        high = ((x[2 * i] >> 16) & 0xFFFF) + (((v >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        a, b = x[2 * i + 1], w[2 * j + 1]
        low = put(out, 2 * k, high, low, mask)
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + (high >> 16)
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        low = put(out, 2 * k + 1, high, low, mask)
