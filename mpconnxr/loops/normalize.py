"""Rows shifted and scaled by their own statistics. Plain form.

x and out have floats (rows, columns), w the lists (epsilon, scale, bias, means, inverses): one
element, and as much of the others as factors and has_moments say. Row r has the factors from
r % period * factor_row_stride on, each for factor_columns elements side by side.
"""

from ..ops._float_math import reciprocal, sqrt

# Parameters of rows
_ROW = const(0)  # the first one [rows] 0..
_ROW_END = const(1)  # behind the last one [rows] 0..
_COLUMNS = const(2)  # [elements] 0..
_IS_CENTRED = const(3)  # whether a row's mean counts, which is 0 else [flag] 0, 1
_PERIOD = const(4)  # until the factors repeat [rows] 1..
_FACTOR_ROW_STRIDE = const(5)  # from row to row of the factors [elements] 0..
_FACTOR_COLUMNS = const(6)  # that share a factor [elements] 1..
_FACTORS = const(7)  # 1: a scale; 2: a bias, too [tensors] 0..2
_HAS_MOMENTS = const(8)  # whether w has room for means and inverses [flag] 0, 1

_BLOCK = 32


def rows(x, w, out, p):
    """
    Access:
        requires not factors or columns % factor_columns == 0
        end = (period - 1) * factor_row_stride + columns // factor_columns
        reads x[row * columns : row_end * columns]
        reads w[0 : 1 + factors] if row < row_end
        reads w[0][0 : 1] if row < row_end
        reads w[1][0 : end] if factors and row < row_end
        reads w[2][0 : end] if factors > 1 and row < row_end
        reads w[3 : 5] if has_moments and row < row_end
        writes w[3][row : row_end] if has_moments
        writes w[4][row : row_end] if has_moments
        writes out[row * columns : row_end * columns]
    """
    row = p[_ROW]
    while row < p[_ROW_END]:
        mean, inverse = moments = _moments(x, p, row * p[_COLUMNS], w[0][0])
        if p[_HAS_MOMENTS]:
            w[3][row] = mean
            w[4][row] = inverse
        _APPLY[p[_FACTORS]](x, w, out, p, row, moments)
        row += 1


def _moments(x, p, first, epsilon):
    n = p[_COLUMNS]
    mean = _sum(x, first, n, 0.0, 1) / n if p[_IS_CENTRED] and n else 0.0
    square = _sum(x, first, n, mean, 2)
    if p[_IS_CENTRED] and n:  # what rounding left of the mean
        rest = _sum(x, first, n, mean, 1)
        square -= rest * (rest / n)
    return mean, reciprocal(sqrt((square / n if n else 0.0) + epsilon))


def _sum(x, i, n, mean, power):
    """Return the sum of (x - mean) ** power, of blocks, with compensation (Neumaier)."""
    end = i + n
    total = lost = 0.0
    while i < end:
        stop = i + _BLOCK
        if stop > end:
            stop = end
        part = 0.0
        while i < stop:
            v = x[i] - mean
            part += v if power == 1 else v * v
            i += 1
        new = total + part
        lost += (total - new) + part if abs(total) >= abs(part) else (part - new) + total
        total = new
    # an infinite total makes nonsense of what was lost
    return total + lost if total - total == 0.0 else total


def _plain(x, w, out, p, row, moments):
    mean, inverse = moments
    i = row * p[_COLUMNS]
    end = i + p[_COLUMNS]
    while i < end:
        out[i] = (x[i] - mean) * inverse
        i += 1


def _scaled(x, w, out, p, row, moments):
    mean, inverse = moments
    scale, width = w[1], p[_FACTOR_COLUMNS]
    i = row * p[_COLUMNS]
    end = i + p[_COLUMNS]
    at = row % p[_PERIOD] * p[_FACTOR_ROW_STRIDE]
    while i < end:
        stop = i + width
        factor = scale[at]
        while i < stop:
            out[i] = (x[i] - mean) * inverse * factor
            i += 1
        at += 1


def _scaled_shifted(x, w, out, p, row, moments):
    mean, inverse = moments
    scale, bias, width = w[1], w[2], p[_FACTOR_COLUMNS]
    i = row * p[_COLUMNS]
    end = i + p[_COLUMNS]
    at = row % p[_PERIOD] * p[_FACTOR_ROW_STRIDE]
    while i < end:
        stop = i + width
        factor = scale[at]
        summand = bias[at]
        while i < stop:
            out[i] = (x[i] - mean) * inverse * factor + summand
            i += 1
        at += 1


_APPLY = (_plain, _scaled, _scaled_shifted)
