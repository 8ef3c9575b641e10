"""Rows of x to rows of out that indices select, for 8-bit and 32-bit elements.

x and out hold rows of elements_per_row, w an index per row, as words. A row with an index out of
range is skipped; judge of loops/gather then raises.
"""

from ._hints import inline

# Parameters of put8, put32
_START = 0  # first row of x [rows] 0..
_END = 1  # end, exclusive [rows] 0..
_OUT_ROWS = const(2)  # [rows] 0..
_ELEMENTS_PER_ROW = const(3)  # [elements] 1..
_UNUSED = const(4)  # unused; other parameters in gather [words x 5] 0
_HAS_BAD_INDEX = 9  # an index was out of range, set by the loop [flag] 0, 1


@inline
def _put(x, w, out, p):
    """Copy rows to the selected ones, in both loops."""
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
    """Copy rows of bytes.

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
