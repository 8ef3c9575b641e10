"""Bytes as indices into a table, by item size. Written once, in the common subset.

x    bytes;  w  the table, 256 items;  out  items
p    lo, hi: range of items
"""


def lookup8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[0 : 256] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    i, end = p[0], p[1]
    while i < end:
        out[i] = w[x[i]]
        i += 1


def lookup32(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Access: as lookup8"""
    i, end = p[0], p[1]
    while i < end:
        out[i] = w[x[i]]
        i += 1
