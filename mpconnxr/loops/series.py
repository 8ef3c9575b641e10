"""Arithmetic series, cosine windows and mel filters. Plain form."""

import math

from ..ops._refuse import refuse

# Parameters of arithmetic
_ELEMENTS = 0  # [elements] 0..
# Parameters of cosines
_FIXED_LENGTH = const(0)  # required length; -1: any [elements] -1..
_IS_SYMMETRIC = const(1)  # the last element equals the first [flag] 0, 1
# Parameters of mel_weights
_FIXED_LINES = const(0)  # required number of lines; -1: any [lines] -1..
_FIXED_BINS = const(1)  # required number of bins; -1: any [bins] -1..

_MOST = 1 << 20  # largest length or rate
_MEL = 2595 / math.log(10)


def arithmetic(x, w, out, p):
    """Write an arithmetic series from x[0] on with difference w[0].

    Access:
        reads x[0 : 1]
        reads w[0 : 1]
        writes out[0 : elements]
    """
    start, delta, i = x[0], w[0], 0
    while i < p[_ELEMENTS]:
        out[i] = start + i * delta
        i += 1


def cosines(x, w, out, p):
    """Write a window of length x[0]: a + b * cos(t) + c * cos(2 * t).

    w is ((a, b, c); the step's name, ASCII).

    Access:
        given out has x[0] elements
        reads x[0 : 1]
        reads w[0 : 2]
        reads w[0][0 : 3]
        writes out[0 : len(out)]
    """
    n = x[0]
    if p[_FIXED_LENGTH] >= 0 and n != p[_FIXED_LENGTH]:
        refuse(w[1], "{} elements for {}".format(n, p[_FIXED_LENGTH]))
    i = 0
    while i < n:
        out[i] = _cosine(w[0], i, n - p[_IS_SYMMETRIC])
        i += 1


def _cosine(factors, i, n):
    t = 2.0 * math.pi * i / n if n else float("nan")  # 0 / 0
    return factors[0] + factors[1] * math.cos(t) + factors[2] * math.cos(2.0 * t)


def mel_weights(x, w, out, p):
    """Write the triangular filters of a mel scale: see ops/mel_weights.

    x is a list of bins, length, rate, low and high, a buffer of one element each; w is the step's
    name, ASCII.

    Access:
        given out holds the lines and bins that x requests
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
    fits = p[_FIXED_LINES] < 0 or lines == p[_FIXED_LINES] and bins == p[_FIXED_BINS]
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
    """Return the spectral line of an edge."""
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
