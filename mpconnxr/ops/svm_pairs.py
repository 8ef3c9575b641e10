"""svm_pairs: decision values of each pair of classes (i, j), i < j, without the intercept.

    sums[n, ij] = sum over vectors v of i of w[j - 1, v] * k[n, v]
                  + sum over vectors v of j of w[i, v] * k[n, v]

Serves SVMClassifier (all opsets). Vectors are sorted by class.

    k       float32 (N, V), the kernel function of sample and support vector
    w       int32 (C - 1, V): the coefficients times 2**(152 - exponent), + 2**26
    sums    float32 (N, pairs)
    scratch  int32, V + 2 elements: a row of k as integers (see loops/units)
Sums are exact and rounded once: coefficients of thousands that cancel are common. If k has inf or
NaN, the sums of that sample are NaN. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_N = const(0)
_CLASSES = const(1)
_EXPONENT = const(2)  # of the largest element of w, biased
_VECTORS = const(3)  # [classes]

CALLS = True
STREAMS = (1,)


def prepare(node, calls):
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
    k, w, sums, work = [calls.place(t, "i") for t in (k, w, sums, work)]
    firsts = [sum(counts[:c]) for c in range(n_classes + 1)]
    units, pairs = forms.get("units").units, forms.get("votes").pairs
    for sample in calls.repeat(n):
        p = block("units", x_start=sample * n_vectors, elements=n_vectors, least_exponent=1)
        calls.call(units, k, None, work, p)
        p = block(
            "votes.pairs",
            out_start=sample * n_pairs,
            classes=n_classes,
            vectors=n_vectors,
            exponent=exponent,
            vector_starts=firsts,
        )
        calls.call(pairs, work, w, sums, p)
