"""svm_pairs: the decision of each pair of classes (i, j), i < j, and how many each class won.

    score[n, ij] = rho[ij] + sum over vectors v of i of w[j - 1, v] * k[n, v]
                           + sum over vectors v of j of w[i, v] * k[n, v]
    votes[n, c] = number of pairs that c won: i where the score is > 0, else j

Serves SVMClassifier (all opsets). Vectors are sorted by class.

    k       float32 (N, V), the kernel function of sample and support vector
    w       int32 (C - 1, V): the coefficients times 2**(152 - exponent), + 2**26
    rho     float32 (pairs)
    score   float32 (N, pairs);  votes  int32 (N, C)
    scratch  int32, V + 2 items: a row of k as integers (see loops/units)
A sum over vectors is exact, and rounded once: coefficients of thousands that cancel are common.
With inf or NaN in k a sample's scores are NaN. Raises ModelError. A step allocates nothing where
viper is.
"""

from .. import forms
from ..parameters import block

# params
_N = const(0)
_CLASSES = const(1)
_EXPONENT = const(2)  # of the largest number of w, biased
_VECTORS = const(3)  # [classes]

STREAMS = (1, 2)


def prepare(node):
    node.require(len(node.params) >= 5, "params")
    n, n_classes, exponent = node.extents(0, _VECTORS)
    node.expect(3, 2, _VECTORS + n_classes, 1)
    k, w, rho = node.inputs
    score, votes = node.outputs
    node.expect_dtype("float32", k, rho, score)
    node.expect_dtype("int32", w, votes, node.scratch[0])
    counts = node.extents(_VECTORS, n_classes)
    n_vectors, n_pairs = sum(counts), n_classes * (n_classes - 1) // 2
    node.require(n * n_vectors == k.nelem and (n_classes - 1) * n_vectors == w.nelem, "sizes")
    node.require(n * n_pairs == score.nelem and n * n_classes == votes.nelem, "output sizes")
    node.require(rho.nelem == n_pairs, "number of rho")
    node.require(0 < exponent < 255, "exponent")
    node.require(n_vectors + 2 <= node.scratch[0].nelem, "scratch size")
    firsts = [sum(counts[:c]) for c in range(n_classes + 1)]
    step = _Pairs(k, w, rho, score, votes, node.scratch[0])
    step.sizes(n_classes, n_pairs, exponent, firsts)
    return n, step.step


class _Pairs:
    """The extent is samples."""

    def __init__(self, k, w, rho, score, votes, work):
        self.k, self.w, self.rho, self.work = k.view("i"), w.view("i"), rho.data, work.view("i")
        self.score, self.floats, self.won = score.view("i"), score.data, votes.view("i")
        self.units, self.add = forms.get("units").units, forms.get("add").add32
        loops = forms.get("votes")
        self.pairs, self.votes = loops.pairs, loops.votes

    def sizes(self, n_classes, n_pairs, exponent, firsts):
        self.p = block(0, firsts[-1], 1)
        self.q = block(0, n_classes, firsts[-1], exponent, *firsts)
        self.r = block(0, n_pairs, 1, 0, 0, 1, 0, 0, n_pairs, 0)
        self.s = block(0, 0, n_classes)

    def step(self, lo, hi):
        p, q, r, s = self.p, self.q, self.r, self.s
        r[0] = r[6] = lo * r[8]
        r[7] = hi - lo
        s[0] = lo
        s[1] = hi
        while lo < hi:
            p[0] = lo * p[1]
            self.units(self.k, self.w, self.work, p)
            q[0] = lo * r[8]
            self.pairs(self.work, self.w, self.score, q)
            lo += 1
        if r[7] > 0 and r[8]:
            self.add(self.floats, self.rho, self.floats, r)
        self.votes(self.score, self.score, self.won, s)
