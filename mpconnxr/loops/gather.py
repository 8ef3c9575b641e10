"""Rows picked by index, by item size. Written once, in the common subset of Python and viper.

    x    items;  out  items
    w    the indices as words: one each (int32) or two (int64, low word first)
    p    lo, hi: range of indices; words an index, rows of x, items a row, first item of x, first
         item of out, then three words of the loop's own: an index, -1, how many were out of range

An index out of range picks row 0 and is counted. It is judged after a trip through p, which makes
a word of it that wraps at 32 bits on every machine.

Made from tools/loops/common/gather.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def judge(p: ptr32, w):
    """w: what refuses indices if one was out of range; p

    Access: of the loops it calls
    """
    refuse = w[0]
    whole = w[1]
    if p[9]:
        refuse(whole, w)


@micropython.viper
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
    words = p[2]
    inner = p[4]
    own = 7
    count = 9
    b = p[6] + p[0] * inner
    k = p[0]
    while k < p[1]:
        a = k * words
        v = w[a]
        sign = (v >> 31) & 1
        good = 1
        if words == 2:
            high = w[a + 1]
            if high:
                good = sign if high == p[8] else 0
            elif sign:
                good = 0
        if sign:
            v += p[3]
            p[own] = v
            v = p[own]
            if (v >> 31) & 1:
                good = 0
        if good == 0 or v >= p[3]:
            p[count] = 1
            v = 0
        a = p[5] + v * inner
        end = b + inner
        while b < end:
            out[b] = x[a]
            a += 1
            b += 1
        k += 1


@micropython.viper
def gather32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as gather8"""
    words = p[2]
    inner = p[4]
    own = 7
    count = 9
    b = p[6] + p[0] * inner
    k = p[0]
    while k < p[1]:
        a = k * words
        v = w[a]
        sign = (v >> 31) & 1
        good = 1
        if words == 2:
            high = w[a + 1]
            if high:
                good = sign if high == p[8] else 0
            elif sign:
                good = 0
        if sign:
            v += p[3]
            p[own] = v
            v = p[own]
            if (v >> 31) & 1:
                good = 0
        if good == 0 or v >= p[3]:
            p[count] = 1
            v = 0
        a = p[5] + v * inner
        end = b + inner
        while b < end:
            out[b] = x[a]
            a += 1
            b += 1
        k += 1
