"""Bytes as indices into a table, by item size. Written once, in the common subset.

x    bytes;  w  the table, 256 items;  out  items
p    lo, hi: range of items

Made from tools/loops/common/lookup.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def lookup8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[0 : 256] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    i = p[0]
    end = p[1]
    while i < end:
        out[i] = w[x[i]]
        i += 1


@micropython.viper
def lookup32(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Access: as lookup8"""
    i = p[0]
    end = p[1]
    while i < end:
        out[i] = w[x[i]]
        i += 1
