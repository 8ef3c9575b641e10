"""block_gemm: rows of A times rows of W, batched, in block floating point.

    out[b, m, n] = clip(sum_k(a[b, m, k] * w[b, n, k]) + bias[b, n])

Serves Gemm and MatMul (all opsets; the converter lays A and W out so that k is contiguous, and
folds alpha, beta and the transposes). The values of a row share an exponent; sums are exact, and
rounded once (see loops/block). A row of A with inf or nan is computed with floats.

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
from ..parameters import BIAS, block
from . import _block as blocks

STREAMS = (1, 2, 3)
_CHUNK = 64  # columns of one call
_EXPONENT = 16  # where in p that of a row is found


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
        if w.dtype == "int32" and forms.precedes("fpu_gemm", "vfp", "block"):
            from ._block_vfp_gemm import Batches

            node.require(w_batches * n * k <= w.nelem, "weights size")
            step = Batches(a, weights, out, n, k, blocks.limits(node, 9))
            return n0 * n1 * step.set_batches(m, (n1, a0, a1, w0, w1)), step.step
        step = Product(a, weights, out, scratch)
        step.set_kind(w, k)
        step.set_shape(m, n, k, blocks.limits(node, 9))
        step.set_weights_of(node, w, w_batches * n, k)
    else:
        node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
        step = _Pair(a, (scratch.data, scratch.view("B"), None), out, scratch)
        step.set_kind(w, k)
        step.set_shape(m, n, k, blocks.limits(node, 9))
        step.set_weights(w, has_bias)
    node.require(step.nelem <= scratch.nelem, "scratch size")
    step.bind(n1, a0, a1, w0, w1)
    return n0 * n1 * m, step.step


class Product(blocks.Block):
    """Rows of A with chunks of W's rows; the extent is batches x rows. p: see
    loops/block_products.
    """

    def set_shape(self, m, n, k, limits):
        of_channel, of_sum, of_x = self.words
        chunk = min(n, _CHUNK)
        sums = blocks.INITS + of_channel * chunk
        row = sums + of_sum * chunk + of_x
        self.nelem = row + k
        p = [0, 0, m, k, n, chunk, 1] + [0] * 14 + [k, _EXPONENT]
        p += [0, 1, 1, 1, k, 1, 1, 1, 1, BIAS, BIAS, BIAS, 1, 1, 1, 0, k, 1, k, row, 1]
        p += list(self.align_p) + [row, 1, k, k, 0, 0, sums, 0]
        self.p = block(*p + [sums, 1, 0, blocks.INITS, 0, 0, 1, 0, 1, 0] + limits + [0])
        views = memoryview(self.p)
        self.peak_p, self.mantissas_p, self.align_p = views[20:23], views[23:44], views[44:51]
        self.dots_p, self.finish_p = views[51:59], views[59:]

    def bind(self, n1, *steps):
        """n1, and batches of A and of W to advance a step of n0 and n1: of row and column."""
        p = self.p
        p[6] = n1
        for i in range(4):
            p[7 + i] = steps[i]
        p[12], p[15] = self.w_step, self.more
        self.needs = [self.peak, self.mantissas, self.align, self.dots, self.finish, p]
        self.needs += [self.peak_p, self.mantissas_p, self.align_p, self.dots_p, self.finish_p]
        self.needs += [self.x, self.w, self.bias, self.exponents, self.scratch, self.out]
        self.products = forms.get("block_products").products

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        self.products(p, self.needs)
        while p[0] < hi:
            self.special()
            p[0] += 1
            self.products(p, self.needs)

    def row(self, q):
        """One row, with q as loops/dot's parameters."""
        p = self.p
        p[17] = q[0]
        p[18] = q[5] // q[1]
        p[19] = q[2]
        p[4] = q[6]
        self.step(0, 1)

    def special(self):
        """Row p[0], which is not finite."""
        from ._block_special import row

        p, a = self.p, self.tensors[0].data
        batch, first = p[0] // p[2], p[20]
        w_row = p[18] + (batch // p[6] * p[9] + batch % p[6] * p[10]) * p[4]
        row(self, [a[first + i] for i in range(p[3])], w_row, p[4], (p[19] + p[0] * p[4], 1))


class _Pair(Product):
    """The same with weights that a run knows: a batch of them at a time becomes mantissas."""

    def set_weights(self, w, has_bias):
        self.floats = w
        n, k = self.p[4], self.p[3]
        self.p[11], self.p[14] = self.nelem + n, 4 * self.nelem
        self.w_step = k
        self.rows = forms.get("block_rows").rows
        self.bias = w.view("i")
        self.rows_p = block(0, n, k, self.nelem + n, self.nelem, 1, has_bias)
        self.nelem += n + n * k
        self.align_p[1] = has_bias * (k + 1)
        self.align_p[3] = 4  # an exponent takes a word

    def bind(self, n1, a0, a1, w0, w1):
        Product.bind(self, n1, a0, a1, 0, 0)
        self.w_batches = w0, w1

    def step(self, lo, hi):
        self.held = -1
        while lo < hi:
            self._take(lo // self.p[2])
            lo = self._rows(lo, hi)

    def _take(self, i):
        """The weights of a batch become mantissas."""
        p, q = self.p, self.rows_p
        batch = i // p[6] * self.w_batches[0] + i % p[6] * self.w_batches[1]
        if batch != self.held:
            self.held = batch
            q[0] = batch * p[4] * (p[3] + q[6])
            p[13] = q[0] + p[3]
            self.rows(self.bias, self.bias, self.scratch, q)

    def _rows(self, lo, hi):
        """Those of one batch; gives the first of the next one."""
        m = self.p[2]
        end = lo - lo % m + m
        if end > hi:
            end = hi
        if self.scratch[1]:
            self._with_floats(lo, end)
        else:
            Product.step(self, lo, end)
        return end

    def _with_floats(self, lo, hi):
        """Rows, with weights that are not finite."""
        self.p[0] = lo
        while self.p[0] < hi:
            self.special()
            self.p[0] += 1

    def special(self):
        from ._block_special import float_row

        p, q = self.p, self.rows_p
        batch = p[0] // p[2]
        row = (batch // p[6] * p[7] + batch % p[6] * p[8]) * p[2] + p[0] % p[2]
        first = block(row * p[3], p[3], p[0] * p[4], 1, q[6], q[0], p[4])
        float_row(self, self.floats.data, first)
