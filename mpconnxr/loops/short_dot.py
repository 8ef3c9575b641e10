"""Sums of short mantissas, the loop under block_conv and block_gemm with --float fast16. Plain.

    x    mantissas as loops/block makes them, of at most 15 bits: rows of K items, the first from
         p[0], p[2] items apart
    w    mantissas plus 2**14, uint16: M rows, one after another from item p[4], each of K items
         and, where K is odd, another one that does not count
    out  from p[6] on, for each row of x, sum(x * w) + 2**30 of each row of w
    p    x first, rows of x, step between them, K, w first, M, out first

A mantissa of x is at most 2**(b - 1), where b = 15 up to 16 items and one less for each four times
as many; the converter makes those of w so small that sums are below 2**30. So one product an item
is enough, which may wrap around, with the 2**14: what these add, 2**14 * sum(x), is taken from the
sum.
"""


def dots(x, w, out, p):
    """
    Access:
        rows, step, k = p[1:4]
        reads x as int32[p[0] : p[0] + (rows - 1) * step + k] if rows and k
        reads w as uint16[p[4] : p[4] + p[5] * (k + k % 2)] if rows
        writes out as int32[p[6] : p[6] + rows * p[5]]
    """
    first, at = p[0], p[6]
    k = p[3]
    rows = p[1]
    while rows:
        added = (_sum(x, first, first + k) << 14) - (1 << 30)
        j = p[4]
        left = p[5]
        while left:
            total = _dot(x, w, first, first + k, j) - added
            out[at] = (total & 0x7FFFFFFF) - (total & 0x80000000)
            at += 1
            j += k + (k & 1)
            left -= 1
        first += p[2]
        rows -= 1


def _sum(x, i, end):
    total = 0
    while i < end:
        total += x[i]
        i += 1
    return total


def _dot(x, w, i, end, j):
    total = 0
    while i < end:
        total += x[i] * w[j]
        i += 1
        j += 1
    return total
