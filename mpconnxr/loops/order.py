"""Order of float32. Plain form: see loops/add.

larger32  Write the larger or the smaller of x and w. NaN if either is NaN. Of 0 and -0, which are
          equal, w.
compare8  Write the byte 1 where one of the relations holds between x and w, else 0. None holds
          for NaN.
"""

from ._words import (
    _COLUMNS,
    _OUT_START,
    _ROWS,
    _W_ROW_STRIDE,
    _W_START,
    _W_STRIDE,
    _X_ROW_STRIDE,
    _X_START,
    _X_STRIDE,
)

# Parameters of larger32, compare8: as _words.pairs
# Parameters of larger32
_IS_MINIMUM = const(9)  # take the smaller, not the larger [flag] 0, 1

# Parameters of compare8
_RELATIONS = const(9)  # relations that give 1: 1 less + 2 equal + 4 greater [mask] 0..7

NAN = float("nan")


def larger32(x, w, out, p):
    """Access: as add.add32"""
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    rows = p[_ROWS]
    smaller = p[_IS_MINIMUM] == 1
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            v = x[i]
            if not (v < w[j] if smaller else v > w[j]) and v == v:
                v = w[j]
            out[k] = v if v == v else NAN
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1


def compare8(x, w, out, p):
    """Compare pairs.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x as float32[x_start : x_last + 1] if rows and columns
        reads w as float32[w_start : w_last + 1] if rows and columns
        writes out as uint8[out_start : out_start + rows * columns]
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    rows = p[_ROWS]
    less, equal, greater = p[_RELATIONS] & 1, p[_RELATIONS] >> 1 & 1, p[_RELATIONS] >> 2 & 1
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            v = x[i]
            out[k] = less if v < w[j] else greater if v > w[j] else equal if v == w[j] else 0
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1
