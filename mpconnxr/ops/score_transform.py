"""score_transform: the post transforms of ai.onnx.ml that no other kernel computes.

    SOFTMAX_ZERO (0)  out = exp(x - m) / s where |x| > 1e-7, else x * exp(-m) / s
                      m: the row's largest x, s: the sum of those exponentials
    PROBIT (1)        out = sqrt(2) * erfinv(2 * x - 1), by Winitzki's approximation with a = 0.147
                      (as onnxruntime; relative error 0.002)

Serves LinearClassifier, LinearRegressor, SVMClassifier, TreeEnsembleClassifier,
TreeEnsembleRegressor and TreeEnsemble (all opsets).

    x, out  float32 (rows, n)
Raises ModelError. A run allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_OP = const(0)
_LINES = const(1)
_N = const(2)
_N_PARAMS = const(3)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    op, rows, n = node.extents(0, _N_PARAMS)
    node.require(op < 2 and rows * n == x.nelem == out.nelem, "operation or sizes")
    if n == 0:
        return
    loops = forms.get("scores")
    loop = loops.softmax_zero if op == 0 else loops.probit
    x, out = calls.place(x), calls.place(out)
    for start, end in calls.parts(rows, n):
        p = block("scores.probit", start=start, end=end, elements_per_sample=n)
        calls.call(loop, x, None, out, p)
