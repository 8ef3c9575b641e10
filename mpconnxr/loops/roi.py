"""Bins of regions, by bilinear samples. Plain form.

x holds float32 (images, channels, rows, columns). out gets float32 (regions, channels, out_rows,
out_columns). w is (regions: x0, y0, x1, y1; image of each; scale, one element; the step's name,
ASCII).

Raises InputError for an image that does not exist, and for a region that is inf, NaN or too large.
"""

from ..ops._refuse import refuse

# Parameters of regions
_START = const(0)  # first region [regions] 0..
_END = const(1)  # end, exclusive [regions] 0..
_CHANNELS = const(2)  # [elements] 1..
_ROWS = const(3)  # of x [elements] 1..
_COLUMNS = const(4)  # of x [elements] 1..
_OUT_ROWS = const(5)  # rows of bins [bins] 1..
_OUT_COLUMNS = const(6)  # columns of bins [bins] 1..
_CELL_ROWS = const(7)  # of a bin, set by the loop [cells] 0..1024
_CELL_COLUMNS = const(8)  # of a bin, set by the loop [cells] 0..1024
_IS_MAXIMUM = const(9)  # maximum of the cells instead of their mean [flag] 0, 1
_IMAGES = const(10)  # [images] 1..
_CELLS = const(11)  # per side of a bin; 0: by its size [cells] 0..32
_IS_HALF_PIXEL = const(12)  # subtract half an element from corners [flag] 0, 1

_MAX_CELLS = 1024  # per side of a bin


def regions(x, w, out, p):
    """Compute the bins of regions.

    Access:
        bins = channels * out_rows * out_columns
        reads x as float32[0 : images * channels * rows * columns] if start < end
        reads w[0 : 4] if start < end
        reads w[0][4 * start : 4 * end]
        reads w[1][start : end]
        reads w[2][0 : 1] if start < end
        writes out as float32[start * bins : end * bins]
        writes p[7 : 9] if start < end
    """
    at = [0.0] * 4  # row and column of the corner, rows and columns of a bin
    region = p[_START]
    while region < p[_END]:
        image = w[1][region]
        if not 0 <= image < p[_IMAGES]:
            refuse(w[3], "batch index {}".format(image))
        p[_CELL_ROWS] = _side(w, at, p, region * 4 + 1, 0)
        p[_CELL_COLUMNS] = _side(w, at, p, region * 4, 1)
        _align(x, at, out, p, image, region)
        region += 1


def _side(w, at, p, i, axis):
    """Set corner and bin size along an axis (row, column); return the cells of a bin."""
    shift = 0.5 if p[_IS_HALF_PIXEL] else 0.0
    start = w[0][i] * w[2][0] - shift
    size = w[0][i + 2] * w[2][0] - shift - start
    if not p[_IS_HALF_PIXEL] and size < 1.0:
        size = 1.0
    if not (-1e6 < start < 1e6 and -1e6 < size < 1e6):
        refuse(w[3], "a region is out of range")
    at[axis] = start
    at[2 + axis] = size = size / p[_OUT_ROWS + axis]
    cells = p[_CELLS] or int(-(-size // 1))
    if cells > _MAX_CELLS:
        refuse(w[3], "a region is too large")
    return max(cells, 0)


def _align(x, at, out, p, image, region):
    base = image * p[_CHANNELS] * p[_ROWS] * p[_COLUMNS]
    k = region * p[_CHANNELS] * p[_OUT_ROWS] * p[_OUT_COLUMNS]
    channel = 0
    while channel < p[_CHANNELS]:
        bins = p[_OUT_ROWS] * p[_OUT_COLUMNS]
        index = 0
        while index < bins:
            out[k] = _bin(x, at, p, base, index // p[_OUT_COLUMNS], index % p[_OUT_COLUMNS])
            k += 1
            index += 1
        base += p[_ROWS] * p[_COLUMNS]
        channel += 1


def _bin(x, at, p, base, row, column):
    total = 0.0
    count = p[_CELL_ROWS] * p[_CELL_COLUMNS]
    first = True
    i = 0
    while i < count:
        at_row = at[0] + row * at[2] + (i // p[_CELL_COLUMNS] + 0.5) * at[2] / p[_CELL_ROWS]
        at_column = (
            at[1] + column * at[3] + (i % p[_CELL_COLUMNS] + 0.5) * at[3] / p[_CELL_COLUMNS]
        )
        v = _sample(x, base, p, at_row, at_column)
        if p[_IS_MAXIMUM]:
            if first or v > total:
                total = v
            first = False
        else:
            total += v
        i += 1
    return total / count if count and not p[_IS_MAXIMUM] else total


def _sample(x, base, p, at_row, at_column):
    rows, columns = p[_ROWS], p[_COLUMNS]
    if at_row < -1.0 or at_row > rows or at_column < -1.0 or at_column > columns:
        return 0.0
    row = int(at_row) if at_row > 0 else 0
    column = int(at_column) if at_column > 0 else 0
    row_rest = at_row - row if at_row > 0 else 0.0
    column_rest = at_column - column if at_column > 0 else 0.0
    down, right = columns, 1
    if row >= rows - 1:
        row, row_rest, down = rows - 1, 0.0, 0
    if column >= columns - 1:
        column, column_rest, right = columns - 1, 0.0, 0
    i = base + row * columns + column
    v0 = (1.0 - row_rest) * (1.0 - column_rest) * x[i]
    v1 = (1.0 - row_rest) * column_rest * x[i + right]
    v2 = row_rest * (1.0 - column_rest) * x[i + down]
    v3 = row_rest * column_rest * x[i + down + right]
    return max(v0, v1, v2, v3) if p[_IS_MAXIMUM] else v0 + v1 + v2 + v3
