"""Bytes as indices of a table, w, of 256 elements."""

# Parameters of lookup8, lookup32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..


def lookup8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Look up elements of bytes.

    Access:
        reads x[start : end]
        reads w[0 : 256] if start < end
        writes out[start : end]
    """
    i, end = p[_START], p[_END]
    while i < end:
        out[i] = w[x[i]]
        i += 1


def lookup32(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Access: as lookup8"""
    i, end = p[_START], p[_END]
    while i < end:
        out[i] = w[x[i]]
        i += 1
