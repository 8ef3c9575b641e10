"""block_gemm: rows of A times rows of W, batched, in block floating point.

    out[b, m, n] = clip(sum_k(a[b, m, k] * w[b, n, k]) + bias[b, n])

Serves Gemm and MatMul (all opsets; the converter lays A and W out so that k is contiguous, and
folds alpha, beta and the transposes). The values of a row share an exponent; sums are exact, and
rounded once (see loops_block). A row of A with inf or nan is computed with floats.

    a    float32 (A batches, M, K)
    w    mantissas (W batches, N, K); then exponents, and biases where there are any, of
         (W batches, N): see block
    or, if only a run knows them:
    w    float32 (W batches, N, K + has_bias): the bias lies behind its row; if one is inf or nan,
         floats do that batch
    out  float32 (n0, n1, M, N)
    scratch  int32: what _words says
    params  n0, n1 (two batch dims; 1 where absent), M, N, K, batches of A to advance a step of n0
            and n1, the same for W (0: broadcast), the bits of low and high of clip, has_bias (of
            weights that only a run knows)
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from .. import forms
from ..node import BIAS, block
from . import block as blocks

STREAMS = (1, 2, 3)
_CHUNK = 64  # columns of one call


def prepare(node):
    known = len(node.inputs) > 2
    node.expect(min(max(len(node.inputs), 2), 4), 1, 12, 1)
    a, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", a, out)
    node.expect_dtype("int32", scratch)
    if not known:
        node.expect_dtype("float32", w)
    n0, n1, m, n, k, a0, a1, w0, w1 = node.extents(0, 9)
    [has_bias] = node.extents(11, 1)
    node.require(n0 * n1 * m * n == out.nelem and k <= blocks.MAX_K, "output size or K")
    if out.nelem == 0:
        return 0, None
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(has_bias < 2, "has_bias")
    if known:
        weights = blocks.constants(node, node.inputs[1:], w_batches * n)
        loops = blocks.fpu_loops(w, "loops_fpu_gemm")
        if loops:
            from .block_vfp_gemm import Batches

            node.require(w_batches * n * k <= w.nelem, "weights size")
            step = Batches(loops, a, weights, out, n, k, blocks.limits(node, 9))
            return n0 * n1 * step.set_batches(m, (n1, a0, a1, w0, w1)), step.step
        step = Product(a, weights, out, scratch)
        step.set_kind(w, k)
        step.set_shape(m, n, k)
        step.set_weights_of(node, w, w_batches * n, k)
    else:
        node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
        step = _Pair(a, (scratch.data, scratch.view("B"), None), out, scratch)
        step.set_shape(m, n, k)
        step.set_weights(w, has_bias)
    node.require(step.nelem <= scratch.nelem, "scratch size")
    step.batches = (n1, a0, a1, w0, w1)
    step.finish_p.extend(block(*blocks.limits(node, 9), 0))
    return n0 * n1 * m, step.step


class Product(blocks.Block):
    """One row of A and a chunk of W's rows a call; the extent is batches x rows."""

    def set_shape(self, m, n, k):
        self.m, self.n, self.k = m, n, k
        self.chunk = min(n, _CHUNK)
        of_channel, of_sum, of_x = self.words
        sums = blocks.INITS + of_channel * self.chunk
        row = sums + of_sum * self.chunk + of_x
        self.nelem = row + k
        self.w_first = self.bias_first = self.exponents_first = 0
        self.w_row = self.first = self.at = 0
        self.mantissas_p = block(0, 1, 1, 1, k, 1, 1, 1, 1, BIAS, BIAS, BIAS)
        self.mantissas_p.extend(block(1, 1, 1, 0, k, 1, k, row, 1))
        self.dots_p = block(row, 1, k, k, 0, 0, sums, 0)
        self.finish_p = block(sums, 1, 0, blocks.INITS, 0, 0, 1, 0, 1, 0)

    def step(self, lo, hi):
        while lo < hi:
            self._place(lo)
            self.row()
            lo += 1

    def _place(self, lo):
        """Where a row begins in A, W and out."""
        b, batch = self.batches, lo // self.m
        self.w_row = (batch // b[0] * b[3] + batch % b[0] * b[4]) * self.n
        self.first = (batch // b[0] * b[1] + batch % b[0] * b[2]) * self.m
        self.first = (self.first + lo % self.m) * self.k
        self.at = lo * self.n

    def row(self):
        self.mantissas_p[0] = self.first
        if not self.exponent(self.first, self.k):
            self.special()
            return
        self.mantissas(self.x, self.x, self.scratch, self.mantissas_p)
        n = 0
        while n < self.n:
            self._columns(n, min(self.n - n, self.chunk))
            n += self.chunk

    def _columns(self, first, n):
        self._align(self.w_row + first, n)
        d = self.dots_p
        d[4] = self.w_first + (self.w_row + first) * self.w_step
        d[5] = self.finish_p[2] = n
        self.finish_p[4] = self.at + first
        self.sums()

    def _align(self, row, n):
        p = self.align_p
        p[0] = self.bias_first + row * p[1]
        p[2] = self.exponents_first + row * p[3]
        p[4] = n
        self.align(self.bias, self.exponents, self.scratch, p)

    def special(self):
        """The same, of a row that is not finite."""
        from .block_special import row

        a, first = self.tensors[0].data, self.first
        values = [a[first + i] for i in range(self.k)]
        row(self, values, self.w_row, self.n, (self.at, 1))


class _Pair(Product):
    """The same with weights that a run knows: a batch of them at a time becomes mantissas."""

    def set_weights(self, w, has_bias):
        self.floats = w
        self.batch = -1
        self.exponents_first = 4 * self.nelem
        self.w_first = self.nelem + self.n
        self.w_step = self.k
        self.rows = forms.get("loops_block_rows").rows
        self.bias = w.view("i")
        self.rows_p = block(0, self.n, self.k, self.w_first, self.nelem, 1, has_bias)
        self.nelem = self.w_first + self.n * self.k
        self.align_p[1] = has_bias * (self.k + 1)
        self.align_p[3] = 4  # an exponent takes a word

    def step(self, lo, hi):
        self.batch = -1
        Product.step(self, lo, hi)

    def row(self):
        if self.w_row != self.batch:
            self.batch = self.w_row
            self.rows_p[0] = self.w_row * (self.k + self.rows_p[6])
            self.bias_first = self.rows_p[0] + self.k
            self.rows(self.bias, self.bias, self.scratch, self.rows_p)
        self.w_row = 0
        if self.scratch[1]:
            self.special()
        else:
            Product.row(self)

    def special(self):
        from .block_special import float_row

        p = block(self.first, self.k, self.at, 1, self.rows_p[6], self.rows_p[0], self.n)
        float_row(self, self.floats.data, p)
