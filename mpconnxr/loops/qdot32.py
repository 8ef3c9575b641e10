"""Dot products of bytes in int32: the loop of kernels without requantization. Plain form.

x, w  as those of loops/qdot; the second word of a channel is signed here
out  int32; position i, channel m: item p[5] + i * p[6] + m * p[7]
p    as that of loops/qdot, with zx as p[9]

out = sum[m] + zx * word     modulo 2**32
"""

from .qdot import items_sum, row_sum, word


def qdots32(x, w, out, p):
    """
    Access:
        kp, n, m = p[2:5]
        requires kp % 4 == 0 and n and m
        reads x as uint8[p[12] - (4 if p[14] else 0) : p[12] + (n - 1) * p[13] + kp]
        reads w as uint8[p[1] : p[1] + 8 * m]
        reads w as uint8[p[0] : p[0] + m * kp]
        writes out as int32[p[5] : p[5] + (n - 1) * p[6] + (m - 1) * p[7] + 1]
    """
    first, at, n = p[12], p[5], p[3]
    while n:
        m = 0
        zs = p[8] * items_sum(x, p, first)
        while m < p[4]:
            v = row_sum(x, w, p, first, m) - zs + word(w, p[1] + 8 * m)
            v += p[9] * word(w, p[1] + 8 * m + 4)
            out[at + m * p[7]] = (v + 0x80000000 & 0xFFFFFFFF) - 0x80000000
            m += 1
        first += p[13]
        at += p[6]
        n -= 1
