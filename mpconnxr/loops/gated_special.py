"""A time step of a recurrent layer with inf or NaN in x or a state, in Python floats. Plain form.

p and w are those of loops/gated_steps.
"""

from ..ops._float_math import sigmoid, tanh
from .block_special import bits_of, float_of
from .gated_steps import (
    _H_START,
    _HIDDEN,
    _KIND,
    _NEW_W_START,
    _OVER_H_W_START,
    _STATE_STRIDE,
    _X_ELEMENTS,
    _X_START,
)

# kinds
_RESETS_SUMS = const(2)
_RNN = const(3)
_RELU = const(4)

# Parameters of step: as gated_steps.steps


def step(p, w):
    """Access: of the loops in whose place it is called"""
    x, weights, scratch = w[15:18]
    n, at = p[_HIDDEN], p[_H_START]
    end = at + p[_STATE_STRIDE]
    xs = [float_of(x[i]) for i in range(p[_X_START], p[_X_START] + p[_X_ELEMENTS])]
    hs = [float_of(scratch[i]) for i in range(at, at + n)]
    if p[_STATE_STRIDE] > n:
        cs = [float_of(scratch[i]) for i in range(at + n, end)]
        new, cs = _lstm(_sums(weights, 0, 4 * n, xs, hs), cs)
        for i in range(n):
            scratch[at + n + i] = bits_of(cs[i])
    elif p[_KIND] < _RNN:
        new = _gru(p, weights, xs, hs)
    else:
        new = _sums(weights, 0, n, xs, hs)
        if p[_KIND] == _RELU:
            new = [v if v > 0 or v != v else 0.0 for v in new]
        else:
            new = [tanh(v) for v in new]
    for i in range(n):
        scratch[at + i] = bits_of(new[i])


def _lstm(gates, cs):
    n = len(cs)
    for i in range(n):
        cs[i] = sigmoid(gates[2 * n + i]) * cs[i] + sigmoid(gates[i]) * tanh(gates[3 * n + i])
    return [sigmoid(gates[n + i]) * tanh(cs[i]) for i in range(n)], cs


def _gru(p, weights, xs, hs):
    n = len(hs)
    gates = [sigmoid(v) for v in _sums(weights, 0, 2 * n, xs, hs)]
    z, r = gates[:n], gates[n:]
    if p[_KIND] == _RESETS_SUMS:
        new = _sums(weights, p[_NEW_W_START], n, xs, [])
        of_h = _sums(weights, p[_OVER_H_W_START], n, [], hs)
        new = [new[i] + r[i] * of_h[i] for i in range(n)]
    else:
        new = _sums(weights, p[_NEW_W_START], n, xs, [r[i] * hs[i] for i in range(n)])
    return [(1.0 - z[i]) * tanh(new[i]) + z[i] * hs[i] for i in range(n)]


def _sums(weights, at, rows, xs, hs):
    """Return sums as loops/gated has them, for `rows` rows of weights from `at` on."""
    results = []
    for _ in range(rows):
        low = weights[at]
        total = (low & 0xFFFFFF) / (1 << 28) + ((weights[at + 1] & 0x3FFFFFFF) - (1 << 29)) / 16
        e = low >> 24 & 255
        at += 2
        if xs:
            total += _product(weights, at, xs, e)
            at += len(xs)
        if hs:
            total += _product(weights, at + 1, hs, weights[at] & 255)
            at += len(hs) + 1
        results.append(total)
    return results


def _product(weights, at, values, e):
    unit, total = 2.0 ** (e - 149), 0.0
    for i in range(len(values)):
        total += weights[at + i] * unit * values[i]
    return total
