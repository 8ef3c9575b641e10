"""svm_pairs: the decision of each pair of classes (i, j), i < j, and how many each class won.

    score[n, ij] = rho[ij] + sum over vectors v of i of w[j - 1, v] * k[n, v]
                           + sum over vectors v of j of w[i, v] * k[n, v]
    votes[n, c] = number of pairs that c won: i where the score is > 0, else j

Serves SVMClassifier (all opsets). Vectors are sorted by class.

    k       float32 (N, V), the kernel function of sample and support vector
    w       float32 (C - 1, V);  rho  float32 (pairs)
    score   float32 (N, pairs);  votes  int32 (N, C)
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..parameters import block
from ._inline import Items

# params
_N = const(0)
_CLASSES = const(1)
_VECTORS = const(2)  # [classes]


def prepare(node):
    node.require(len(node.params) >= 4, "params")
    n, n_classes = node.extents(0, _VECTORS)
    node.expect(3, 2, _VECTORS + n_classes)
    k, w, rho = node.inputs
    score, votes = node.outputs
    node.expect_dtype("float32", k, w, rho, score)
    node.expect_dtype("int32", votes)
    counts = node.extents(_VECTORS, n_classes)
    n_vectors, n_pairs = sum(counts), n_classes * (n_classes - 1) // 2
    node.require(n * n_vectors == k.nelem and (n_classes - 1) * n_vectors == w.nelem, "sizes")
    node.require(n * n_pairs == score.nelem and n * n_classes == votes.nelem, "output sizes")
    node.require(rho.nelem == n_pairs, "number of rho")
    firsts = [sum(counts[:c]) for c in range(n_classes + 1)]
    p = block(0, 0, n_classes, n_vectors, *firsts)
    step = Items(forms.get("svm").pairs, k.data, (w.data, rho.data), (score.data, votes.data), p)
    return n, step.step
