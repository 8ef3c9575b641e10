"""svm_pairs: the decision of each pair of classes (i, j), i < j, but for what is added to it.

    sums[n, ij] = sum over vectors v of i of w[j - 1, v] * k[n, v]
                  + sum over vectors v of j of w[i, v] * k[n, v]

Serves SVMClassifier (all opsets). Vectors are sorted by class.

    k       float32 (N, V), the kernel function of sample and support vector
    w       int32 (C - 1, V): the coefficients times 2**(152 - exponent), + 2**26
    sums    float32 (N, pairs)
    scratch  int32, V + 2 items: a row of k as integers (see loops/units)
A sum is exact, and rounded once: coefficients of thousands that cancel are common. With inf or NaN
in k a sample's sums are NaN. Raises ModelError. A step allocates nothing where viper is.
"""

from .. import forms
from ..parameters import block

# params
_N = const(0)
_CLASSES = const(1)
_EXPONENT = const(2)  # of the largest number of w, biased
_VECTORS = const(3)  # [classes]

STREAMS = (1,)


def prepare(node):
    node.require(len(node.params) >= 5, "params")
    n, n_classes, exponent = node.extents(0, _VECTORS)
    node.expect(2, 1, _VECTORS + n_classes, 1)
    k, w, sums, work = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", k, sums)
    node.expect_dtype("int32", w, work)
    counts = node.extents(_VECTORS, n_classes)
    n_vectors, n_pairs = sum(counts), n_classes * (n_classes - 1) // 2
    node.require(n * n_vectors == k.nelem and (n_classes - 1) * n_vectors == w.nelem, "sizes")
    node.require(n * n_pairs == sums.nelem, "output size")
    node.require(0 < exponent < 255, "exponent")
    node.require(n_vectors + 2 <= work.nelem, "scratch size")
    step = _Pairs(k.view("i"), w.view("i"), sums.view("i"), work.view("i"))
    firsts = [sum(counts[:c]) for c in range(n_classes + 1)]
    step.sizes(n_pairs, n_classes, n_vectors, exponent, *firsts)
    return n, step.step


class _Pairs:
    """The extent is samples."""

    def __init__(self, k, w, out, work):
        self.k, self.w, self.out, self.work = k, w, out, work
        self.units, self.pairs = forms.get("units").units, forms.get("votes").pairs

    def sizes(self, n_pairs, n_classes, n_vectors, *rest):
        self.n_pairs = n_pairs
        self.p = block(0, n_vectors, 1)
        self.q = block(0, n_classes, n_vectors, *rest)

    def step(self, lo, hi):
        p, q = self.p, self.q
        while lo < hi:
            p[0] = lo * p[1]
            self.units(self.k, self.w, self.work, p)
            q[0] = lo * self.n_pairs
            self.pairs(self.work, self.w, self.out, q)
            lo += 1
