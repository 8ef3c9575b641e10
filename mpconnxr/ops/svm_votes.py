"""svm_votes: number of pairs (i, j), i < j, that each class wins.

    votes[n, c] = number of pairs that c wins: i where the score is > 0, else j

Serves SVMClassifier (all opsets).

    score   float32 (N, pairs);  votes  float32 (N, C)
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_N = const(0)
_CLASSES = const(1)
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    score, votes = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", score, votes)
    n, n_classes = node.extents(0, _N_PARAMS)
    n_pairs = n_classes * (n_classes - 1) // 2
    node.require(n * n_pairs == score.nelem and n * n_classes == votes.nelem, "sizes")
    x, out, loop = calls.place(score, "i"), calls.place(votes, "i"), forms.get("votes").votes
    for start, end in calls.parts(n, n_pairs):
        p = block("votes.votes", start=start, end=end, votes_classes=n_classes)
        calls.call(loop, x, None, out, p)
