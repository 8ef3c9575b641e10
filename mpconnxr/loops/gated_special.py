"""A time step of a recurrent layer where x or a state is inf or nan: with Python's floats. Plain.

p and w: see loops/gated_steps.
"""

from ..ops._float_math import sigmoid, tanh
from .block_special import bits_of, float_of

# in p[13]
_RESETS_SUMS = const(2)
_RNN = const(3)
_RELU = const(4)


def step(p, w):
    """Access: of the loops in whose place it is called"""
    x, weights, scratch = w[15:18]
    n, at = p[10], p[18]
    end = at + p[11]
    xs = [float_of(x[i]) for i in range(p[14], p[14] + p[15])]
    hs = [float_of(scratch[i]) for i in range(at, at + n)]
    if p[11] > n:
        cs = [float_of(scratch[i]) for i in range(at + n, end)]
        new, cs = _lstm(_sums(weights, 0, 4 * n, xs, hs), cs)
        for i in range(n):
            scratch[at + n + i] = bits_of(cs[i])
    elif p[13] < _RNN:
        new = _gru(p, weights, xs, hs)
    else:
        new = _sums(weights, 0, n, xs, hs)
        if p[13] == _RELU:
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
    if p[13] == _RESETS_SUMS:
        new = _sums(weights, p[34], n, xs, [])
        of_h = _sums(weights, p[42], n, [], hs)
        new = [new[i] + r[i] * of_h[i] for i in range(n)]
    else:
        new = _sums(weights, p[34], n, xs, [r[i] * hs[i] for i in range(n)])
    return [(1.0 - z[i]) * tanh(new[i]) + z[i] * hs[i] for i in range(n)]


def _sums(weights, at, rows, xs, hs):
    """As loops/gated has them, from that item of the weights on."""
    found = []
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
        found.append(total)
    return found


def _product(weights, at, values, e):
    unit, total = 2.0 ** (e - 149), 0.0
    for i in range(len(values)):
        total += weights[at + i] * unit * values[i]
    return total
