"""Exact sums of mantissas with weights of 16, 8 or 4 bits: what loops/block_dot gives for them.

    x    mantissas (see loops/block), int32: rows of K items, the first from p[0], p[2] items apart
    w    M rows, one after another from item p[4]: K uint16 or uint8, or (K + 1) // 2 bytes of two
         each, the first in the lower bits
    out  from p[6] on, for each row of x: limbs (24, 24 and 16 bits) of sum(x) + 2**40, then of
         each sum(x * v) + 2**63, v the weight's mantissa of 24 bits
    p    x first, rows of x, step between them, K, w first, M, out first, bits (16, 8 or 4)

A weight of b bits is held as u = m + 2**(b - 1), and stands for the mantissa m * 2**(24 - b). That
one would be held as v = m * 2**(24 - b) + 2**23 = u * 2**(24 - b): so sum(x * v) is sum(x * u),
shifted. Plain form.
"""

_MASK = 0xFFFFFF


def dots(x, w, out, p):
    """
    Access:
        rows, step, k = p[1:4]
        size = 2 if p[7] == 16 else 1
        row = (k + 1) // 2 if p[7] == 4 else k * size
        reads x as int32[p[0] : p[0] + (rows - 1) * step + k] if rows and k
        reads w as uint8[p[4] * size : p[4] * size + p[5] * row] if rows
        writes out as int32[p[6] : p[6] + rows * 3 * (p[5] + 1)]
    """
    first, at, bits = p[0], p[6], p[7]
    dot = _dot4 if bits == 4 else _dot
    w_step = (p[3] + 1) // 2 if bits == 4 else p[3]
    rows = p[1]
    while rows:
        at = _store(out, at, (1 << 40) + _sum(x, first, first + p[3]), 0, 0)
        j = p[4]
        left = p[5]
        while left:
            at = _store(out, at, dot(x, w, first, first + p[3], j), 24 - bits, 1 << 15)
            j += w_step
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


def _dot4(x, w, i, end, j):
    total = 0
    while i < end:
        total += x[i] * (w[j] & 15)
        i += 1
        if i < end:
            total += x[i] * (w[j] >> 4)
            i += 1
        j += 1
    return total


def _store(out, at, total, shift, high):
    """The limbs of total << shift, which itself might be a big integer."""
    total, low = total >> 24 - shift, total & (1 << 24 - shift) - 1
    out[at] = low << shift
    out[at + 1] = total & _MASK
    out[at + 2] = (total >> 24) + high
    return at + 3
