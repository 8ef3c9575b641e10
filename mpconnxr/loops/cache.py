"""Rows of x into lines of out, from a row on that a tensor gives, for 8-bit and 32-bit elements.

x holds elements (batches, lines, rows, columns), out (batches, lines, out_rows, columns). w holds
for each batch the row of out for its first row, int64 as words, the low one first. A batch whose
rows are out of range is skipped. For kernel cache.
"""

from ._hints import inline
from ._words import all_but_sign

# Parameters of put8, put32
_BATCH = 0  # first batch [batches] 0..
_BATCH_END = 1  # end, exclusive [batches] 0..
_LINES = const(2)  # of a batch [lines] 1..
_OUT_ROWS = const(3)  # of a line of out [rows] 1..
_ROWS = const(4)  # of a line of x [rows] 1..
_COLUMNS = const(5)  # of a row [elements] 1..
_IS_CIRCULAR = const(6)  # row 0 follows the last row [flag] 0, 1
_SPARE = const(7)  # unused: gather.judge takes this block, too [words x 2]
_HAS_BAD_INDEX = 9  # rows were out of range, set by the loop [flag] 0, 1


@inline
def put(x, w, out, p):
    """Write the rows of x to out, in both loops."""
    mask = all_but_sign()
    lines, out_rows, rows = p[_LINES], p[_OUT_ROWS], p[_ROWS]
    i = p[_BATCH] * lines * rows * p[_COLUMNS]
    line = p[_BATCH] * lines
    for batch in range(p[_BATCH], p[_BATCH_END]):
        v = w[2 * batch] & mask
        is_beyond = w[2 * batch + 1]
        if (w[2 * batch] >> 31) & 1 or v > out_rows - rows and p[_IS_CIRCULAR] == 0:
            is_beyond = 1
        if is_beyond:
            v = _HAS_BAD_INDEX
            p[v] = 1
            line += lines
            i += lines * rows * p[_COLUMNS]
        else:
            first, last = v % out_rows, line + lines
            while line < last:
                row, v = first, rows
                while v:
                    k = (line * out_rows + row) * p[_COLUMNS]
                    end = k + p[_COLUMNS]
                    while k < end:
                        out[k] = x[i]
                        i += 1
                        k += 1
                    row += 1
                    if row == out_rows:
                        row = 0
                    v -= 1
                line += 1


def put8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Write rows of bytes.

    Access:
        requires rows <= out_rows
        size = lines * rows * columns
        reads x[batch * size : batch_end * size]
        reads w[2 * batch : 2 * batch_end]
        out_size = lines * out_rows * columns
        writes out[batch * out_size : batch_end * out_size]
        writes p[9 : 10]
    """
    put(x, w, out, p)


def put32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as put8"""
    put(x, w, out, p)
