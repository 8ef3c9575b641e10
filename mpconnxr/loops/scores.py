"""Post transforms of class scores, of ai.onnx.ml. Plain form.

x and out hold float32.
"""

import math

from ..ops._float_math import INF, NAN, exp, log, log1p, sigmoid

# Parameters of pair, softmax_zero, probit
_START = const(0)  # first sample [samples] 0..
_END = const(1)  # end, exclusive [samples] 0..

# Parameters of pair
_KIND = const(2)  # 0: 1 - x and x, 1: -x and x, 2: the sigmoids of these [code] 0..2
_HALVES = const(3)  # threshold in halves [value] 0, 1

# Parameters of softmax_zero, probit
_ELEMENTS_PER_SAMPLE = const(2)  # [elements] 0..

_A = 0.147
_ZERO = 1e-7  # scores closer to 0 count as absent


def pair(x, w, out, p):
    """Compute two scores and a label from one number.

    w is (labels, label), int64 as pairs of words.

    Access:
        reads x[start : end]
        reads w[0 : 2]
        reads w[0][0 : 4] if start < end
        writes w[1][2 * start : 2 * end]
        writes out[2 * start : 2 * end]
    """
    labels, label = w
    threshold, sample = p[_HALVES] / 2, p[_START]
    while sample < p[_END]:
        v, i = x[sample], 2 * sample
        likelier = 2 if v > threshold else 0
        label[i], label[i + 1] = labels[likelier], labels[likelier + 1]
        if p[_KIND] == 2:
            out[i] = sigmoid(-v)
            out[i + 1] = sigmoid(v)
        else:
            out[i] = 1.0 - v if p[_KIND] == 0 else -v
            out[i + 1] = v
        sample += 1


def softmax_zero(x, w, out, p):
    """Compute SOFTMAX_ZERO of each sample: see ops/score_transform.

    Access:
        reads x[start * elements_per_sample : end * elements_per_sample]
        writes out[start * elements_per_sample : end * elements_per_sample]
    """
    sample = p[_START]
    while sample < p[_END]:
        _row(
            x,
            out,
            sample * p[_ELEMENTS_PER_SAMPLE],
            sample * p[_ELEMENTS_PER_SAMPLE] + p[_ELEMENTS_PER_SAMPLE],
        )
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
    """Access: as softmax_zero"""
    i, end = p[_START] * p[_ELEMENTS_PER_SAMPLE], p[_END] * p[_ELEMENTS_PER_SAMPLE]
    while i < end:
        out[i] = _probit(x[i])
        i += 1


def _probit(x):
    """Return the probit of x: -inf at 0, inf at 1, NaN outside."""
    y = 2.0 * x - 1.0
    # log(1 - y * y) without cancellation, near 0 and near 1
    ln = log1p(-y * y) if -0.5 < y < 0.5 else log((1.0 - y) * (1.0 + y))
    if ln == -INF or ln != ln:
        return math.copysign(INF, y) if ln == -INF else NAN
    half = 2.0 / (math.pi * _A) + 0.5 * ln
    # sqrt(half**2 - ln / a) - half without cancellation
    root = ln / _A / (half + math.sqrt(half * half - ln / _A))
    return math.copysign(math.sqrt(-2.0 * root), y)
