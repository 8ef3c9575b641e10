"""Rows normalized by their own mean and variance. Plain form.

x and out hold floats (rows, columns). w is a list (epsilon, scale, bias, means, inverses): one
element, then as many as factors and has_moments say. Row r has the factors from r % period *
factor_row_stride on, each for factor_columns adjacent elements.
"""

from ..ops._float_math import reciprocal, sqrt

# Parameters of rows
_ROW = const(0)  # first row [rows] 0..
_ROW_END = const(1)  # end, exclusive [rows] 0..
_COLUMNS = const(2)  # [elements] 0..
_IS_CENTRED = const(3)  # subtract the mean of a row [flag] 0, 1
_PERIOD = const(4)  # period of the factors [rows] 1..
_FACTOR_ROW_STRIDE = const(5)  # from row to row of the factors [elements] 0..
_FACTOR_COLUMNS = const(6)  # elements that share a factor [elements] 1..
_FACTORS = const(7)  # 1: scale; 2: scale and bias [tensors] 0..2
_HAS_MOMENTS = const(8)  # w has means and inverses as outputs [flag] 0, 1

_BLOCK = 32


def rows(x, w, out, p):
    """Normalize rows.

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
    if p[_IS_CENTRED] and n:  # correct the rounding error of the mean
        rest = _sum(x, first, n, mean, 1)
        square -= rest * (rest / n)
    return mean, reciprocal(sqrt((square / n if n else 0.0) + epsilon))


def _sum(x, i, n, mean, power):
    """Return the sum of (x - mean) ** power in blocks, compensated (Neumaier)."""
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
    # with an infinite total, the compensation is NaN
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
