"""svm_proba: class probabilities from the decision values of pairs of classes.

    r[i, j] = 1 - sigmoid(score[ij] * a[ij] + b[ij]) within 1e-7 of 0 and 1; r[j, i] = 1 - r[i, j]

(Platt), then the p that minimises sum over pairs of (r[j, i] * p[i] - r[i, j] * p[j]) ** 2, by the
iteration of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise
Coupling" (2004), algorithm 2, as in LIBSVM and onnxruntime: until no error exceeds 0.005 / C, at
most 100 times.

Serves SVMClassifier (all opsets) with prob_a and prob_b.

    score    float32 (N, pairs of i < j);  a, b  float32 (pairs);  out  float32 (N, C)
    scratch  float32 (C, C) twice and (C)
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_N = const(0)
_CLASSES = const(1)
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    node.expect(3, 1, _N_PARAMS, 3)
    score, a, b = node.inputs
    out = node.outputs[0]
    node.expect_dtype("float32", score, a, b, out, *node.scratch)
    n, n_classes = node.extents(0, _N_PARAMS)
    n_pairs = n_classes * (n_classes - 1) // 2
    node.require(n_classes > 1 and a.nelem == b.nelem == n_pairs, "number of classes or pairs")
    node.require(n * n_pairs == score.nelem and n * n_classes == out.nelem, "sizes")
    r, q, qp = node.scratch
    square = n_classes * n_classes
    node.require(r.nelem == q.nelem == square and qp.nelem == n_classes, "scratch")
    w = calls.hold([calls.place(t) for t in (a, b, r, q, qp)])
    loop, score, out = forms.get("svm").probabilities, calls.place(score), calls.place(out)
    for start, end in calls.parts(n, square):
        calls.call(loop, score, w, out, block("svm", start=start, end=end, classes=n_classes))
