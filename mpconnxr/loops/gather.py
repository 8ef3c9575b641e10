"""Rows picked by index, by item size. Written once, in the common subset of Python and viper.

    x    items;  out  items
    w    the indices as words: one each (int32) or two (int64, low word first)
    p    lo, hi: range of indices; words an index, rows of x, items a row, first item of x, first
         item of out, then three words of the loop's own: an index, -1, how many were out of range

An index out of range picks row 0 and is counted. It is judged after a trip through p, which makes
a word of it that wraps at 32 bits on every machine.
"""

from ._hints import inline
from ._words import index_of


@inline
def _gather(x, w, out, p):
    """Copy the rows that indices name: both loops."""
    words, inner, own, count = p[2], p[4], 7, 9
    b = p[6] + p[0] * inner
    for k in range(p[0], p[1]):
        a = k * words
        v, sign, good, high = index_of(w, a, p[3], 8, words, own, count, p)
        a, end = p[5] + v * inner, b + inner
        while b < end:
            out[b] = x[a]
            a += 1
            b += 1


def judge(p: ptr32, w):
    """w: what refuses indices if one was out of range; p

    Access: of the loops it calls
    """
    refuse, whole = w[:2]
    if p[9]:
        refuse(whole, w)


def gather8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        words, rows, inner = p[2:5]
        requires words == 1 or words == 2
        reads x[p[5] : p[5] + max(rows, 1) * inner] if p[0] < p[1]
        reads w[p[0] * words : p[1] * words]
        writes out[p[6] + p[0] * inner : p[6] + p[1] * inner]
        writes p[7 : 8]
        writes p[9 : 10]
    """
    _gather(x, w, out, p)


def gather32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as gather8"""
    _gather(x, w, out, p)
