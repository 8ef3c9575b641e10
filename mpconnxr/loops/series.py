"""Items that follow from a few numbers. Plain form."""

import math

from ..ops._refuse import refuse

_MOST = 1 << 20  # of a length or rate
_MEL = 2595 / math.log(10)


def arithmetic(x, w, out, p):
    """p[0] items at the distance w[0], from x[0] on.

    Access:
        reads x[0 : 1]
        reads w[0 : 1]
        writes out[0 : p[0]]
    """
    start, delta, i = x[0], w[0], 0
    while i < p[0]:
        out[i] = start + i * delta
        i += 1


def cosines(x, w, out, p):
    """A window of x[0] items: a + b * cos(t) + c * cos(2 * t).

    w    (a, b, c; the step's name, ASCII)
    p    the only number of items that is allowed, or -1; 1 if the window is symmetric, else 0

    Access:
        given out has x[0] items
        reads x[0 : 1]
        reads w[0 : 2]
        reads w[0][0 : 3]
        writes out[0 : len(out)]
    """
    n = x[0]
    if p[0] >= 0 and n != p[0]:
        refuse(w[1], "{} items for {}".format(n, p[0]))
    i = 0
    while i < n:
        out[i] = _cosine(w[0], i, n - p[1])
        i += 1


def _cosine(factors, i, n):
    t = 2.0 * math.pi * i / n if n else float("nan")  # 0 / 0
    return factors[0] + factors[1] * math.cos(t) + factors[2] * math.cos(2.0 * t)


def mel_weights(x, w, out, p):
    """See the kernel.

    x    (bins, length, rate, low, high), an item each
    w    the step's name, ASCII
    p    the only numbers of lines and bins that are allowed, or -1

    Access:
        given out has room for the lines and bins that x asks for
        reads x[0 : 5]
        reads x[0][0 : 1]
        reads x[1][0 : 1]
        reads x[2][0 : 1]
        reads x[3][0 : 1]
        reads x[4][0 : 1]
        writes out[0 : len(out)]
    """
    bins, length, rate, low, high = [t[0] for t in x]
    _require(0 <= bins < _MOST and 0 < length < _MOST and 0 < rate < _MOST, w, "sizes")
    _require(-700 < low < _MOST and -700 < high < _MOST, w, "edges")
    lines = length // 2 + 1
    fits = p[0] < 0 or lines == p[0] and bins == p[1]
    _require(fits, w, "sizes other than the output's")
    for i in range(lines * bins):
        out[i] = 0.0
    first = _MEL * math.log(1 + low / 700)
    distance = (_MEL * math.log(1 + high / 700) - first) / (bins + 2)
    scale = (length + 1) * 700.0
    for i in range(bins):
        edges = [_line(first + k * distance, scale, rate) for k in range(i, i + 3)]
        _triangle(out, i, bins, edges, lines, w)


def _line(mel, scale, rate):
    """The spectrum's line at an edge."""
    return int(scale * (math.exp(mel / _MEL) - 1) // rate)


def _triangle(out, i, bins, edges, lines, name):
    lower, centre, higher = edges
    _require(0 <= lower <= centre < lines, name, "edges beyond the spectrum")
    _require(centre <= higher <= lines, name, "edges beyond the spectrum")
    for j in range(lower, centre + 1):
        out[j * bins + i] = (j - lower) / (centre - lower) if centre > lower else 1
    for j in range(centre, higher):
        out[j * bins + i] = (higher - j) / (higher - centre)


def _require(condition, name, what):
    if not condition:
        refuse(name, what)
