"""Attention with inf or NaN, in Python floats; allocates. Plain form.

loops/attention calls heads for a unit in which a query, key or value is inf or NaN.
"""

import math

from .attention import (
    _BATCH,
    _EXPONENT,
    _FACTOR,
    _GROUP,
    _HEADS,
    _IS_CAUSAL,
    _K_BATCH_STRIDE,
    _K_HEAD_STRIDE,
    _K_ROW_STRIDE,
    _KEY_COLUMNS,
    _KEYS_BEFORE,
    _OUT_BATCH_STRIDE,
    _OUT_HEAD_STRIDE,
    _OUT_QUERY_STRIDE,
    _POWERS,
    _Q_BATCH_STRIDE,
    _Q_HEAD_STRIDE,
    _Q_ROW_STRIDE,
    _QUERY,
    _SCALE,
    _SETTLE,
    _SHIFT,
    _UNIT_KEYS,
    _UNIT_QUERIES,
    _V_BATCH_STRIDE,
    _V_HEAD_STRIDE,
    _V_ROW_STRIDE,
    _VALUE_COLUMNS,
)
from .block_special import bits_of, float_of

# Parameters of heads: as attention.attend

_INFINITY = float("inf")


def heads(p, w):
    """Compute a unit. w as for attend in loops/attention.

    Access: of the loops in whose place it is called
    """
    for head in range(p[_HEADS]):
        for i in range(p[_QUERY], p[_QUERY] + p[_UNIT_QUERIES]):
            _row(p, w, p[_GROUP] * p[_HEADS] + head, i)


def _row(p, w, head, i):
    n = p[_UNIT_KEYS]
    if p[_IS_CAUSAL]:
        n = max(min(n, p[_KEYS_BEFORE] - (1 << 20) + i + 1), 0)
    q, k, v, out = w[14], w[15], w[16], w[18]
    query = _floats(
        q,
        p[_BATCH] * p[_Q_BATCH_STRIDE] + head * p[_Q_HEAD_STRIDE] + i * p[_Q_ROW_STRIDE],
        p[_KEY_COLUMNS],
    )
    scores = []
    first = p[_BATCH] * p[_K_BATCH_STRIDE] + p[_GROUP] * p[_K_HEAD_STRIDE]
    for j in range(n):
        scores.append(
            _dot(query, _floats(k, first + j * p[_K_ROW_STRIDE], p[_KEY_COLUMNS])) * _scale(p)
        )
    largest = -_INFINITY
    for score in scores:
        if score > largest or score != score:
            largest = score
    # inf - inf is NaN, as in numpy; NaN is the maximum
    powers = [math.exp(s - largest) if s - largest <= 0.0 else s - largest for s in scores]
    total = sum(powers)
    at = p[_BATCH] * p[_OUT_BATCH_STRIDE] + head * p[_OUT_HEAD_STRIDE] + i * p[_OUT_QUERY_STRIDE]
    first = p[_BATCH] * p[_V_BATCH_STRIDE] + p[_GROUP] * p[_V_HEAD_STRIDE]
    for d in range(p[_VALUE_COLUMNS]):
        value = 0.0
        for j in range(n):
            value += powers[j] / total * float_of(v[first + j * p[_V_ROW_STRIDE] + d])
        out[at + d] = bits_of(value)


def _scale(p):
    """Return the factor of the scores, without the 1 / ln(2) that the parameter has."""
    return (
        math.log(2.0)
        * p[_SCALE + _FACTOR]
        * 2.0 ** (p[_POWERS + _EXPONENT] - 796 + p[_SETTLE + _SHIFT])
    )


def _floats(words, first, n):
    return [float_of(words[first + i]) for i in range(n)]


def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
