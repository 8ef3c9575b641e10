"""class_pair: the scores of two classes from one number, and the label of the likelier.

    label[n] = labels[1 if x[n] > halves / 2 else 0]
    scores[n] = 1 - x[n], x[n]                  (kind 0)
                -x[n], x[n]                     (kind 1)
                sigmoid(-x[n]), sigmoid(x[n])   (kind 2)

Serves LinearClassifier, SVMClassifier and TreeEnsembleClassifier (all opsets) with two classes.

    x       float32 (N);  labels  int64 (2)
    label   int64 (N);  scores  float32 (N, 2)
    params  kind, halves (0 or 1)
Raises ModelError. A step allocates only boxed floats.
"""

from ._float_math import sigmoid


def prepare(node):
    node.expect(2, 2, 2)
    x, labels = node.inputs
    label, scores = node.outputs
    node.expect_dtype("float32", x, scores)
    node.expect_dtype("int64", labels, label)
    kind, halves = node.extents(0, 2)
    node.require(kind < 3 and halves < 2, "kind or threshold")
    n = x.nelem
    node.require(labels.nelem == 2 and label.nelem == n and scores.nelem == 2 * n, "sizes")
    step = _ClassPair(x.data, scores.data, (kind, halves / 2))
    step.labels, step.label = labels.view("i"), label.view("i")
    return n, step.step


class _ClassPair:
    """The extent is samples; int64 labels are copied as pairs of words."""

    def __init__(self, x, scores, how):
        self.x, self.scores = x, scores
        self.kind, self.threshold = how

    def step(self, lo, hi):
        while lo < hi:
            x, i = self.x[lo], 2 * lo
            k = 2 if x > self.threshold else 0
            self.label[i], self.label[i + 1] = self.labels[k], self.labels[k + 1]
            if self.kind == 2:
                self.scores[i] = sigmoid(-x)
                self.scores[i + 1] = sigmoid(x)
            else:
                self.scores[i] = 1.0 - x if self.kind == 0 else -x
                self.scores[i + 1] = x
            lo += 1
