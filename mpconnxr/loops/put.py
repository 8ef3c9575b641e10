"""Rows of x to those of out that indices name, by size of element.

Written once, for Python and viper. x and out hold rows of elements_per_row, w an index a row, as
words. The row of an index out of range is left out; loops/gather judges it.
"""

from ._hints import inline

# Parameters of put8, put32
_START = 0  # the first row of x [rows] 0..
_END = 1  # behind the last one [rows] 0..
_OUT_ROWS = const(2)  # [rows] 0..
_ELEMENTS_PER_ROW = const(3)  # [elements] 1..
_UNUSED = const(4)  # where gather has other parameters [words x 5] 0
_HAS_BAD_INDEX = 9  # an index was out of range, as the loop sets it [flag] 0, 1


@inline
def _put(x, w, out, p):
    """Copy rows to those that indices name, as both loops do."""
    elements, bad = p[_ELEMENTS_PER_ROW], _HAS_BAD_INDEX
    i = p[_START] * elements
    for row in range(p[_START], p[_END]):
        place = w[row]
        if (place >> 31) & 1 == 1 or place >= p[_OUT_ROWS]:
            p[bad] = 1
            i += elements
        else:
            place, end = place * elements, i + elements
            while i < end:
                out[place] = x[i]
                i += 1
                place += 1


def put8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        reads x[start * elements_per_row : end * elements_per_row]
        reads w[start : end]
        writes out[0 : out_rows * elements_per_row]
        writes p[9 : 10]
    """
    _put(x, w, out, p)


def put32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as put8"""
    _put(x, w, out, p)
