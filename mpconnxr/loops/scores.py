"""Scores of classes, the post transforms of ai.onnx.ml. Plain form.

x    float32;  out  float32
p    lo, hi: range of samples; then see there
"""

import math

from ..ops._float_math import INF, NAN, exp, log, log1p, sigmoid

_A = 0.147
_ZERO = 1e-7  # scores nearer to 0 than this count as absent


def pair(x, w, out, p):
    """Two scores of one, and a label. w: (labels, label): int64 as pairs of words; p: kind (0
    1 - x and x, 1 -x and x, 2 the sigmoids of these), 1 for a threshold of 0.5 instead of 0.

    Access:
        lo, hi = p[0:2]
        reads x[lo : hi]
        reads w[0 : 2]
        reads w[0][0 : 4] if lo < hi
        writes w[1][2 * lo : 2 * hi]
        writes out[2 * lo : 2 * hi]
    """
    labels, label = w
    threshold, sample = p[3] / 2, p[0]
    while sample < p[1]:
        v, i = x[sample], 2 * sample
        k = 2 if v > threshold else 0
        label[i], label[i + 1] = labels[k], labels[k + 1]
        if p[2] == 2:
            out[i] = sigmoid(-v)
            out[i + 1] = sigmoid(v)
        else:
            out[i] = 1.0 - v if p[2] == 0 else -v
            out[i + 1] = v
        sample += 1


def softmax_zero(x, w, out, p):
    """p: items of a sample

    Access:
        reads x[p[0] * p[2] : p[1] * p[2]]
        writes out[p[0] * p[2] : p[1] * p[2]]
    """
    sample = p[0]
    while sample < p[1]:
        _row(x, out, sample * p[2], sample * p[2] + p[2])
        sample += 1


def _row(x, out, first, end):
    most, total = -INF, 0.0
    i = first
    while i < end:
        if x[i] > most:
            most = x[i]
        i += 1
    i = first
    while i < end:
        v = x[i]
        if -_ZERO <= v <= _ZERO:
            out[i] = v * exp(-most)
        else:
            out[i] = exp(v - most)
            total += out[i]
        i += 1
    i = first
    while i < end:
        out[i] = out[i] / total if total else out[i] * INF
        i += 1


def probit(x, w, out, p):
    """p: items of a sample

    Access: as softmax_zero
    """
    i, end = p[0] * p[2], p[1] * p[2]
    while i < end:
        out[i] = _probit(x[i])
        i += 1


def _probit(x):
    """-inf at 0, inf at 1, NaN outside of them."""
    y = 2.0 * x - 1.0
    # log(1 - y * y) with its digits, near 0 as near 1
    ln = log1p(-y * y) if -0.5 < y < 0.5 else log((1.0 - y) * (1.0 + y))
    if ln == -INF or ln != ln:
        return math.copysign(INF, y) if ln == -INF else NAN
    half = 2.0 / (math.pi * _A) + 0.5 * ln
    # sqrt(half**2 - ln / a) - half, without the difference of nearly equal numbers
    root = ln / _A / (half + math.sqrt(half * half - ln / _A))
    return math.copysign(math.sqrt(-2.0 * root), y)
