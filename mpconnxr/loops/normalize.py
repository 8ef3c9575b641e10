"""Statistics of a row and what they make of it. Plain form.

x    floats, a row from p[0] on;  out  floats, the same row
w    (list of mean, inv, epsilon; scale; bias), as many as the loop takes
p    first item, n, centred (0 or 1), first item of scale and bias, items they hold for
"""

from ..ops._float_math import reciprocal, sqrt

_BLOCK = 32


def moments(x, w, out, p):
    """out: the list; sets mean and inv.

    Access:
        reads x[p[0] : p[0] + p[1]]
        reads out[2 : 3]
        writes out[0 : 2]
    """
    n = p[1]
    mean = _sum(x, p, 0.0, 1) / n if p[2] and n else 0.0
    square = _sum(x, p, mean, 2)
    if p[2] and n:  # what rounding left of the mean
        rest = _sum(x, p, mean, 1)
        square -= rest * (rest / n)
    out[0] = mean
    out[1] = reciprocal(sqrt((square / n if n else 0.0) + out[2]))


def _sum(x, p, mean, power):
    """Sum of (x - mean) ** power: blocks, whose totals are added with compensation (Neumaier)."""
    i = p[0]
    end = i + p[1]
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


def plain(x, w, out, p):
    """
    Access:
        reads w[0 : 1]
        reads w[0][0 : 2]
        reads x[p[0] : p[0] + p[1]]
        writes out[p[0] : p[0] + p[1]]
    """
    mean, inv = w[0][0], w[0][1]
    i = p[0]
    end = i + p[1]
    while i < end:
        out[i] = (x[i] - mean) * inv
        i += 1


def scaled(x, w, out, p):
    """
    Access:
        requires p[1] % p[4] == 0
        reads w[0 : 2]
        reads w[0][0 : 2]
        reads w[1][p[3] : p[3] + p[1] // p[4]]
        reads x[p[0] : p[0] + p[1]]
        writes out[p[0] : p[0] + p[1]]
    """
    mean, inv = w[0][0], w[0][1]
    scale, width = w[1], p[4]
    i = p[0]
    end = i + p[1]
    s = p[3]
    while i < end:
        stop = i + width
        g = scale[s]
        while i < stop:
            out[i] = (x[i] - mean) * inv * g
            i += 1
        s += 1


def scaled_shifted(x, w, out, p):
    """
    Access:
        as scaled
        reads w[2 : 3]
        reads w[2][p[3] : p[3] + p[1] // p[4]]
    """
    mean, inv = w[0][0], w[0][1]
    scale, bias, width = w[1], w[2], p[4]
    i = p[0]
    end = i + p[1]
    s = p[3]
    while i < end:
        stop = i + width
        g = scale[s]
        b = bias[s]
        while i < stop:
            out[i] = (x[i] - mean) * inv * g + b
            i += 1
        s += 1
