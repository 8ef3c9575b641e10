"""Exact sums of mantissas, the loop under block_conv and block_gemm. Plain form.

    x    mantissas (see loops/block): rows of K items, the first from p[0], p[2] items apart
    w    mantissas as they are held: M rows of K items, one after another from p[4]
    out  from p[6] on, for each row of x: limbs (24, 24 and 16 bits) of sum(x) + 2**40, then of
         each sum(x * w) + 2**63
    p    x first, rows of x, step between them, K, w first, M, out first

The caller keeps K below 2**16: so a sum of products with its sign has at most 64 bits, and no
limb is negative. What is added vanishes when finish takes HALF * sum(x) from the sums.
"""

_MASK = 0xFFFFFF


def dots(x, w, out, p):
    """
    Access:
        rows, step, k = p[1:4]
        reads x as int32[p[0] : p[0] + (rows - 1) * step + k] if rows and k
        reads w as int32[p[4] : p[4] + p[5] * k] if rows
        writes out as int32[p[6] : p[6] + rows * 3 * (p[5] + 1)]
    """
    first, at = p[0], p[6]
    rows = p[1]
    while rows:
        at = _store(out, at, (1 << 40) + _sum(x, first, first + p[3]), 0)
        j = p[4]
        left = p[5]
        while left:
            at = _store(out, at, _dot(x, w, first, first + p[3], j), 1 << 15)
            j += p[3]
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


def _store(out, at, total, high):
    out[at] = total & _MASK
    out[at + 1] = total >> 24 & _MASK
    out[at + 2] = (total >> 48) + high
    return at + 3
