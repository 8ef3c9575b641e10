"""score_transform: the post transforms of ai.onnx.ml that no other operator has.

    SOFTMAX_ZERO (0)  out = exp(x - m) / s where |x| > 1e-7, else x * exp(-m) / s
                      m: the row's largest x, s: the sum of those exponentials
    PROBIT (1)        out = sqrt(2) * erfinv(2 * x - 1), by Winitzki's approximation with a = 0.147
                      (that of onnxruntime, relative error 0.002)

Serves LinearClassifier, LinearRegressor, SVMClassifier, TreeEnsembleClassifier,
TreeEnsembleRegressor and TreeEnsemble (all opsets).

    x, out  float32 (rows, n)
    params  operation, rows, n
Raises ModelError. A step allocates only boxed floats.
"""

import math

from ._float_math import INF, NAN, exp, log, log1p

_A = 0.147
_ZERO = 1e-7  # scores nearer to 0 than this count as absent


def prepare(node):
    node.expect(1, 1, 3)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    op, rows, n = node.extents(0, 3)
    node.require(op < 2 and rows * n == x.nelem == out.nelem, "operation or sizes")
    step = _Transform(x.data, out.data, n)
    return (rows, step.softmax_zero if op == 0 else step.probit) if n else (0, None)


class _Transform:
    """The extent is rows."""

    def __init__(self, x, out, n):
        self.x, self.out, self.n = x, out, n

    def softmax_zero(self, lo, hi):
        while lo < hi:
            self._row(lo * self.n, lo * self.n + self.n)
            lo += 1

    def _row(self, first, end):
        x, out = self.x, self.out
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

    def probit(self, lo, hi):
        i, end = lo * self.n, hi * self.n
        while i < end:
            self.out[i] = _probit(self.x[i])
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
