"""The order of float32. Plain form: see loops/add.

larger32  Put the larger of x and w, or the smaller one. A NaN on either side wins. Of 0 and -0,
          which are equal, w stays.
compare8  Put 1 where a relation holds of x and w, else 0: to bytes. None holds of a NaN.
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
_IS_MINIMUM = const(9)  # the smaller one is wanted, not the larger [flag] 0, 1

# Parameters of compare8
_RELATIONS = const(9)  # those that count: 1 less + 2 equal + 4 greater [mask] 0..7

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
    """
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
