"""class_pair: scores of two classes from one number, and the label of the likelier class.

    label[n] = labels[1 if x[n] > halves / 2 else 0]
    scores[n] = 1 - x[n], x[n]                  (kind 0)
                -x[n], x[n]                     (kind 1)
                sigmoid(-x[n]), sigmoid(x[n])   (kind 2)

Serves LinearClassifier, SVMClassifier and TreeEnsembleClassifier (all opsets) with two classes.

    x       float32 (N);  labels  int64 (2)
    label   int64 (N);  scores  float32 (N, 2)
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_KIND = const(0)
_HALVES = const(1)  # flag
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    node.expect(2, 2, _N_PARAMS)
    x, labels = node.inputs
    label, scores = node.outputs
    node.expect_dtype("float32", x, scores)
    node.expect_dtype("int64", labels, label)
    kind, halves = node.extents(0, _N_PARAMS)
    node.require(kind < 3 and halves < 2, "kind or threshold")
    n = x.nelem
    node.require(labels.nelem == 2 and label.nelem == n and scores.nelem == 2 * n, "sizes")
    # int64 labels are copied as pairs of words
    labels = calls.hold([calls.place(labels, "i"), calls.place(label, "i")])
    loop, x, scores = forms.get("scores").pair, calls.place(x), calls.place(scores)
    for start, end in calls.parts(n):
        p = block("scores.pair", start=start, end=end, kind=kind, halves=halves)
        calls.call(loop, x, labels, scores, p)
