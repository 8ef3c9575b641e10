"""Rows shifted and scaled by their own statistics. Plain form.

x    floats (rows, n);  out  floats, likewise
w    (epsilon, scale, bias, means, inverses): an item, and as much of the others as p says
p    lo, hi: range of rows; n, centred (0 or 1), period and step of rows in scale and bias, items
     that one of these holds for; how many of these there are; 1 to give means and inverses
"""

from ..ops._float_math import reciprocal, sqrt

_BLOCK = 32


def rows(x, w, out, p):
    """
    Access:
        lo, hi, n, width, factors = p[0], p[1], p[2], p[6], p[7]
        requires factors < 3 and (not factors or n % width == 0)
        m = (p[4] - 1) * p[5] + n // max(width, 1)
        reads x[lo * n : hi * n]
        reads w[0 : 1 + factors] if lo < hi
        reads w[0][0 : 1] if lo < hi
        reads w[1][0 : m] if factors and lo < hi
        reads w[2][0 : m] if factors > 1 and lo < hi
        reads w[3 : 5] if p[8] and lo < hi
        writes w[3][lo : hi] if p[8]
        writes w[4][lo : hi] if p[8]
        writes out[lo * n : hi * n]
    """
    row = p[0]
    while row < p[1]:
        mean, inverse = moments = _moments(x, p, row * p[2], w[0][0])
        if p[8]:
            w[3][row] = mean
            w[4][row] = inverse
        _APPLY[p[7]](x, w, out, p, row, moments)
        row += 1


def _moments(x, p, first, epsilon):
    n = p[2]
    mean = _sum(x, first, n, 0.0, 1) / n if p[3] and n else 0.0
    square = _sum(x, first, n, mean, 2)
    if p[3] and n:  # what rounding left of the mean
        rest = _sum(x, first, n, mean, 1)
        square -= rest * (rest / n)
    return mean, reciprocal(sqrt((square / n if n else 0.0) + epsilon))


def _sum(x, i, n, mean, power):
    """Sum of (x - mean) ** power: blocks, whose totals are added with compensation (Neumaier)."""
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
    mean, inv = moments
    i = row * p[2]
    end = i + p[2]
    while i < end:
        out[i] = (x[i] - mean) * inv
        i += 1


def _scaled(x, w, out, p, row, moments):
    mean, inv = moments
    scale, width = w[1], p[6]
    i = row * p[2]
    end = i + p[2]
    s = row % p[4] * p[5]
    while i < end:
        stop = i + width
        g = scale[s]
        while i < stop:
            out[i] = (x[i] - mean) * inv * g
            i += 1
        s += 1


def _scaled_shifted(x, w, out, p, row, moments):
    mean, inv = moments
    scale, bias, width = w[1], w[2], p[6]
    i = row * p[2]
    end = i + p[2]
    s = row % p[4] * p[5]
    while i < end:
        stop = i + width
        g = scale[s]
        b = bias[s]
        while i < stop:
            out[i] = (x[i] - mean) * inv * g + b
            i += 1
        s += 1


_APPLY = (_plain, _scaled, _scaled_shifted)
