"""gemm: rows of A times rows of W, batched.

    out[b, m, n] = sum_k(a[b, m, k] * w[b, n, k]) + bias[b, n]

Serves Gemm and MatMul (all opsets; the converter lays A and W out so that k is contiguous, and
folds alpha, beta and the transposes).

    a    float32, float64 or any integer dtype (A batches, M, K)
    w    same dtype (W batches, N, K + has_bias): the bias lies behind its row
    out  same dtype (n0, n1, M, N); integers wrap around
Raises ModelError. A step allocates only what arithmetic does (boxed floats, big integers).
"""

from .. import forms
from ..parameters import block
from ..tensor import range_of
from ._wrap import bits_of

# params
_BATCHES = const(0)  # [2] of out; 1 where there are none
_M = const(2)
_N = const(3)
_K = const(4)
_HAS_BIAS = const(5)  # flag
_A_STEPS = const(6)  # [2] matrices of A to advance a batch
_W_STEPS = const(8)  # [2] of W; 0: broadcast
_N_PARAMS = const(10)

STREAMS = (1,)


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    a, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(a.dtype, w, out)
    limits = range_of(a.dtype)
    node.require(limits or a.dtype in ("float32", "float64"), "dtype " + a.dtype)
    n0, n1, m, n, k, has_bias, a0, a1, w0, w1 = node.extents(0, _N_PARAMS)
    node.require(has_bias < 2 and n0 * n1 * m * n == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
    step = _Gemm(a.data, w.data, out.data, (m, n, k, has_bias))
    step.batches = (n1, a0, a1, w0, w1)
    if limits:
        step.wrap(limits)
    return n0 * n1 * m, step.step


class _Gemm:
    """One row of A, all rows of W a call; the extent is batches x rows."""

    def __init__(self, a, w, out, shape):
        self.a, self.w, self.out = a, w, out
        self.m, self.n, self.k, self.has_bias = shape
        self.dots = forms.get("dot").dots_f32
        self.p = block(0, self.k, 0, 1, self.has_bias, 0, self.n)

    def wrap(self, limits):
        """Sums of integers instead, into a dtype of these limits."""
        self.dots = forms.get("dot").dots_int
        self.p = block(*list(self.p) + bits_of(limits))

    def step(self, lo, hi):
        p = self.p
        n1, a0, a1, w0, w1 = self.batches
        while lo < hi:
            batch = lo // self.m
            i, j = batch // n1, batch % n1
            p[0] = ((i * a0 + j * a1) * self.m + lo % self.m) * self.k
            p[2] = lo * self.n
            p[5] = (i * w0 + j * w1) * self.n * (self.k + self.has_bias)
            self.dots(self.a, self.w, self.out, p)
            lo += 1
