"""svm_votes: by decisions of pairs of classes (i, j), i < j, how many each class won.

    votes[n, c] = number of pairs that c won: i where the score is > 0, else j

Serves SVMClassifier (all opsets).

    score   float32 (N, pairs);  votes  float32 (N, C)
Raises ModelError. A step allocates nothing where viper is.
"""

from .. import forms
from ..parameters import block
from ._inline import Items

# params
_N = const(0)
_CLASSES = const(1)
_N_PARAMS = const(2)


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    score, votes = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", score, votes)
    n, n_classes = node.extents(0, _N_PARAMS)
    n_pairs = n_classes * (n_classes - 1) // 2
    node.require(n * n_pairs == score.nelem and n * n_classes == votes.nelem, "sizes")
    x = score.view("i")
    return n, Items(forms.get("votes").votes, x, x, votes.view("i"), block(0, 0, n_classes)).step
