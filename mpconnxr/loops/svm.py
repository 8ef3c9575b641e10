"""Support vector machines: class probabilities from pairwise decision values. Plain form."""

from ..ops._float_math import NAN, sigmoid

# Parameters of probabilities
_START = const(0)  # first sample [samples] 0..
_END = const(1)  # end, exclusive [samples] 0..
_CLASSES = const(2)  # [classes] 2..

_LEAST = 1e-7
_MAX_ROUNDS = 100


def probabilities(x, w, out, p):
    """Compute the probabilities of samples.

    x holds scores; w is (a, b; then working memory: r, q, and q times p).

    Access:
        pairs = classes * (classes - 1) // 2
        reads x[start * pairs : end * pairs]
        reads w[0 : 5] if start < end
        reads w[0][0 : pairs] if start < end
        reads w[1][0 : pairs] if start < end
        writes w[2][0 : classes * classes] if start < end
        writes w[3][0 : classes * classes] if start < end
        writes w[4][0 : classes] if start < end
        writes out[start * classes : end * classes]
    """
    classes, sample = p[_CLASSES], p[_START]
    while sample < p[_END]:
        _set_r(x, w, classes, sample * (classes * (classes - 1) // 2))
        _set_q(w[2], w[3], classes)
        i = 0
        while i < classes:
            out[sample * classes + i] = 1.0 / classes
            i += 1
        rounds = 0
        while rounds < _MAX_ROUNDS and _improve(w[3], w[4], out, classes, sample * classes):
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
    """Set Q[i, i] to the sum of r[j, i] ** 2, Q[i, j] to -r[j, i] * r[i, j]."""
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
    """Do a round over all classes; return False when out is accurate enough."""
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
    """Set Q p and return p' Q p."""
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
