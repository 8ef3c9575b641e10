"""Rows of x into rows of out from one that a tensor names, by item size: kernel cache.

    x    (batches, lines, rows, inner) items;  out  (batches, lines, n, inner) items
    w    of each batch the row where its first one goes, int64 as words, the low one first
    p    lo, hi: range of batches; lines, n, rows, inner; 1 if the rows go on from the first one
         behind the last one; two words that do not count; 1 if a row was out of range

A batch whose rows are out of range is left out. Written once, in the common subset of Python and
viper.
"""

from ._hints import inline
from ._words import all_but_sign


@inline
def put(x, w, out, p):
    """Put the rows of x to out: both loops."""
    mask = all_but_sign()
    lines, n, rows = p[2:5]
    a = p[0] * lines * rows * p[5]
    line = p[0] * lines
    for batch in range(p[0], p[1]):
        v = w[2 * batch] & mask
        bad = w[2 * batch + 1]
        if (w[2 * batch] >> 31) & 1 or v > n - rows and p[6] == 0:
            bad = 1
        if bad:
            v = 9
            p[v] = 1
            line += lines
            a += lines * rows * p[5]
        else:
            first, last = v % n, line + lines
            while line < last:
                row, v = first, rows
                while v:
                    b = (line * n + row) * p[5]
                    end = b + p[5]
                    while b < end:
                        out[b] = x[a]
                        a += 1
                        b += 1
                    row += 1
                    if row == n:
                        row = 0
                    v -= 1
                line += 1


def put8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        lines, n, rows, inner = p[2:6]
        requires 0 < rows <= n
        reads x[p[0] * lines * rows * inner : p[1] * lines * rows * inner]
        reads w[2 * p[0] : 2 * p[1]]
        writes out[p[0] * lines * n * inner : p[1] * lines * n * inner]
        writes p[9 : 10]
    """
    put(x, w, out, p)


def put32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as put8"""
    put(x, w, out, p)
