"""Attention where a value is inf or nan: with Python's floats, and allocating. Plain form.

What loops/attention calls for a group of heads, of whose queries, keys or values some are not
finite, with p and w as attend has them.
"""

import math

from .block_special import bits_of, float_of

_INFINITY = float("inf")


def heads(p, w):
    """Access: of the loops in whose place it is called"""
    for head in range(p[4]):
        for i in range(p[26], p[26] + p[27]):
            _row(p, w, p[29] * p[4] + head, i)


def _row(p, w, head, i):
    n = p[28]
    if p[10]:
        n = max(min(n, p[30] - (1 << 20) + i + 1), 0)
    q, k, v, out = w[14], w[15], w[16], w[18]
    query = _floats(q, p[25] * p[13] + head * p[14] + i * p[15], p[8])
    scores = []
    first = p[25] * p[16] + p[29] * p[17]
    for j in range(n):
        scores.append(_dot(query, _floats(k, first + j * p[18], p[8])) * _scale(p))
    largest = -_INFINITY
    for score in scores:
        if score > largest or score != score:
            largest = score
    # inf - inf is nan, as numpy has it; nan is larger than anything
    powers = [math.exp(s - largest) if s - largest <= 0.0 else s - largest for s in scores]
    total = sum(powers)
    at = p[25] * p[22] + head * p[23] + i * p[24]
    first = p[25] * p[19] + p[29] * p[20]
    for d in range(p[9]):
        value = 0.0
        for j in range(n):
            value += powers[j] / total * float_of(v[first + j * p[21] + d])
        out[at + d] = bits_of(value)


def _scale(p):
    """Of the scores: without 1 / ln(2), which the factor has."""
    return math.log(2.0) * p[60] * 2.0 ** (p[79] - 796 + p[73])


def _floats(items, first, n):
    return [float_of(items[first + i]) for i in range(n)]


def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
