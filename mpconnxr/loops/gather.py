"""Rows of x selected by indices, for 8-bit and 32-bit elements.

x holds rows from x_start on; out gets one for each index, that of index 0 at out_start. w holds
the indices as words: one each (int32) or two (int64, low word first).

A negative index counts from the end. An index out of range selects row 0 and sets has_bad_index,
on which judge raises. The index makes a round trip through p, so that it is a word that wraps at
32 bits on every machine.
"""

from ._hints import inline
from ._words import index_of, set_at

# Parameters of judge, gather8, gather32
_START = 0  # first index [indices] 0..
_END = 1  # end, exclusive [indices] 0..
_WORDS_PER_INDEX = const(2)  # [words] 1, 2
_ROWS = const(3)  # of x [rows] 1..
_ELEMENTS_PER_ROW = const(4)  # [elements] 0..
_X_START = 5  # [elements] 0..
_OUT_START = 6  # [elements] 0..
_INDEX = const(7)  # scratch word for an index, set by the loop [value]
_MINUS_ONE = const(8)  # upper word of a negative index [value] -1
_HAS_BAD_INDEX = 9  # an index was out of range, set by the loop [flag] 0, 1


@inline
def _gather(x, w, out, p):
    """Copy the selected rows, in both loops."""
    words, elements, own, bad = p[_WORDS_PER_INDEX], p[_ELEMENTS_PER_ROW], _INDEX, _HAS_BAD_INDEX
    place = p[_OUT_START] + p[_START] * elements
    for k in range(p[_START], p[_END]):
        i = k * words
        row, sign, good, high = index_of(w, i, p[_ROWS], _MINUS_ONE, words, own, bad, p)
        i, end = p[_X_START] + row * elements, place + elements
        while place < end:
            out[place] = x[i]
            i += 1
            place += 1


def judge(p: ptr32, w):
    """Call the rare loop w[0] with the message w[1] if an index was out of range.

    Access: of the loops it calls
    """
    refuse = w[0]
    if p[_HAS_BAD_INDEX]:
        i = set_at(p, _HAS_BAD_INDEX, 0)  # for the next run
        refuse(w, w)


def gather8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Gather rows of bytes.

    Access:
        reads x[x_start : x_start + rows * elements_per_row] if start < end
        reads w[start * words_per_index : end * words_per_index]
        first, last = out_start + start * elements_per_row, out_start + end * elements_per_row
        writes out[first : last]
        writes p[7 : 8]
        writes p[9 : 10]
    """
    _gather(x, w, out, p)


def gather32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as gather8"""
    _gather(x, w, out, p)
