"""Support vector machines: probabilities of classes by decisions of pairs. Plain form.

p    lo, hi: range of samples; classes
"""

from ..ops._float_math import NAN, sigmoid

_LEAST = 1e-7
_MAX_ROUNDS = 100


def probabilities(x, w, out, p):
    """x: scores; w: (a, b; then r, q and q times p, to work in)

    Access:
        lo, hi, n = p[0:3]
        pairs = n * (n - 1) // 2
        reads x[lo * pairs : hi * pairs]
        reads w[0 : 5] if lo < hi
        reads w[0][0 : pairs] if lo < hi
        reads w[1][0 : pairs] if lo < hi
        writes w[2][0 : n * n] if lo < hi
        writes w[3][0 : n * n] if lo < hi
        writes w[4][0 : n] if lo < hi
        writes out[lo * n : hi * n]
    """
    n, sample = p[2], p[0]
    while sample < p[1]:
        _set_r(x, w, n, sample * (n * (n - 1) // 2))
        _set_q(w[2], w[3], n)
        i = 0
        while i < n:
            out[sample * n + i] = 1.0 / n
            i += 1
        rounds = 0
        while rounds < _MAX_ROUNDS and _improve(w[3], w[4], out, n, sample * n):
            rounds += 1
        sample += 1


def _set_r(x, w, n, at):
    a, b, r, pair = w[0], w[1], w[2], 0
    i = 0
    while i < n:
        j = i + 1
        while j < n:
            v = 1.0 - sigmoid(x[at + pair] * a[pair] + b[pair])
            v = min(max(v, _LEAST), 1.0 - _LEAST)
            r[i * n + j] = v
            r[j * n + i] = 1.0 - v
            pair += 1
            j += 1
        i += 1


def _set_q(r, q, n):
    """Q[i, i] = sum of r[j, i] ** 2, Q[i, j] = -r[j, i] * r[i, j]"""
    i = 0
    while i < n:
        j, total = 0, 0.0
        while j < n:
            if j != i:
                total += r[j * n + i] * r[j * n + i]
                q[i * n + j] = -r[j * n + i] * r[i * n + j]
            j += 1
        q[i * n + i] = total
        i += 1


def _improve(q, qp, out, n, at):
    """One round over all classes; False once out is good enough."""
    pqp = _products(q, qp, out, n, at)
    if _error(qp, n, pqp) < 0.005 / n:
        return False
    i = 0
    while i < n:
        own = q[i * n + i]
        change = (pqp - qp[i]) / own if own else NAN
        scale = 1.0 + change
        if not scale:
            scale = NAN
        out[at + i] += change
        pqp = (pqp + change * (change * own + 2.0 * qp[i])) / scale / scale
        j = 0
        while j < n:
            qp[j] = (qp[j] + change * q[i * n + j]) / scale
            out[at + j] = out[at + j] / scale
            j += 1
        i += 1
    return True


def _products(q, qp, out, n, at):
    """Sets Q p; returns p' Q p."""
    result, i = 0.0, 0
    while i < n:
        j, total = 0, 0.0
        while j < n:
            total += q[i * n + j] * out[at + j]
            j += 1
        qp[i] = total
        result += out[at + i] * total
        i += 1
    return result


def _error(qp, n, pqp):
    most, i = 0.0, 0
    while i < n:
        most = max(most, abs(qp[i] - pqp))
        i += 1
    return most
