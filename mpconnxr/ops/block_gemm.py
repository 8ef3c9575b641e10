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
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from .. import forms
from ..parameters import BIAS, block
from . import _block as blocks

# params
_BATCHES = const(0)  # [2] of out; 1 where there are none
_M = const(2)
_N = const(3)
_K = const(4)
_A_STEPS = const(5)  # [2] matrices of A to advance a batch
_W_STEPS = const(7)  # [2] of W; 0: broadcast
_LIMITS = const(9)  # [low, high] float: what the result is cut to
_HAS_BIAS = const(11)  # flag: of weights that only a run knows
_N_PARAMS = const(12)

STREAMS = (1, 2, 3)
_CHUNK = 64  # columns of one call
_FEW_ROWS = 4  # of A: fewer take longer in an FPU
_EXPONENT = 16  # where in p that of a row is found
_FLAG = 1  # item of scratch: weights are not finite
_FLAG_FOUND = 86  # where in p its exponent is found


def prepare(node):
    known = len(node.inputs) > 2
    node.expect(min(max(len(node.inputs), 2), 4), 1, _N_PARAMS, 1)
    a, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", a, out)
    node.expect_dtype("int32", scratch)
    if not known:
        node.expect_dtype("float32", w)
    n0, n1, m, n, k, a0, a1, w0, w1 = node.extents(0, _LIMITS)
    [has_bias] = node.extents(_HAS_BIAS, 1)
    node.require(n0 * n1 * m * n == out.nelem and k <= blocks.MAX_K, "output size or K")
    if out.nelem == 0:
        return 0, None
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(has_bias < 2, "has_bias")
    if known:
        weights = blocks.constants(node, node.inputs[1:], w_batches * n)
        in_floats = w.dtype == "int32" and m >= _FEW_ROWS
        if in_floats and forms.precedes("fpu_gemm", "vfp", "block"):
            from ._block_vfp_gemm import Batches

            node.require(w_batches * n * k <= w.nelem, "weights size")
            step = Batches(a, weights, out, n, k, blocks.limits(node, _LIMITS))
            return n0 * n1 * step.set_batches(m, (n1, a0, a1, w0, w1)), step.step
        step = Product(a, weights, out, scratch)
        step.set_kind(w, k)
        step.set_shape(m, n, k, blocks.limits(node, _LIMITS))
        step.set_weights_of(node, w, w_batches * n, k)
    else:
        node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
        step = _Pair(a, (scratch.data, scratch.view("B"), None), out, scratch)
        step.set_kind(w, k)
        step.set_shape(m, n, k, blocks.limits(node, _LIMITS))
        step.set_weights(w, has_bias)
    node.require(step.nelem <= scratch.nelem, "scratch size")
    step.bind(n1, a0, a1, w0, w1)
    return n0 * n1 * m, step.step


class Product(blocks.Block):
    """Rows of A with chunks of W's rows; the extent is batches x rows. p: see
    loops/block_products; special: of loops/block_special; rest: words behind those of products.
    """

    special, rest = "product", 0

    def set_shape(self, m, n, k, limits):
        of_channel, of_sum, of_x = self.words
        chunk = min(n, _CHUNK)
        sums = blocks.INITS + of_channel * chunk
        row = sums + of_sum * chunk + of_x
        self.nelem = row + k
        p = [0, 0, m, k, n, chunk, 1] + [0] * 14 + [k, _EXPONENT]
        p += [0, 1, 1, 1, k, 1, 1, 1, 1, BIAS, BIAS, BIAS, 1, 1, 1, 0, k, 1, k, row, 1]
        p += self.align_words + [row, 1, k, k, 0, 0, sums, 0]
        p += [sums, 1, 0, blocks.INITS, 0, 0, 1, 0, 1, 0] + limits + [0]
        self.p = block(*p + [0] * self.rest)

    def bind(self, n1, *steps):
        """n1, and batches of A and of W to advance a step of n0 and n1: of row and column."""
        p = self.p
        p[6] = n1
        for i in range(4):
            p[7 + i] = steps[i]
        p[12], p[15] = self.w_step, self.more
        self.products = forms.get("block_products").products
        self.set_needs(forms.later("block_special", self.special), (23, 44, 51, 59, 74))
        self.needs += [self.peak, memoryview(p)[20:23]]

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        self.products(p, self.needs)

    def row(self, q):
        """One row, with q as loops/dot's parameters."""
        p = self.p
        p[17] = q[0]
        p[18] = q[5] // q[1]
        p[19] = q[2]
        p[4] = q[6]
        self.step(0, 1)


class _Pair(Product):
    """The same with weights that a run knows: a batch of them at a time becomes mantissas. p: see
    loops/block_rows.
    """

    special, rest = "product_of_floats", 13

    def set_weights(self, w, has_bias):
        p = self.p
        n, k = p[4], p[3]
        first = self.nelem + n
        p[11], p[14] = first, 4 * self.nelem
        self.w_step = k
        words = (n, k, first, self.nelem, _FLAG, has_bias, 0, 0, _FLAG, 1, _FLAG_FOUND)
        for i in range(len(words)):
            p[75 + i] = words[i]
        self.bias = w.view("i")
        self.nelem += n + n * k
        p[45] = has_bias * (k + 1)
        p[47] = 4  # an exponent takes a word

    def bind(self, n1, a0, a1, w0, w1):
        Product.bind(self, n1, a0, a1, 0, 0)
        self.p[81], self.p[82] = w0, w1
        loops, views = forms.get("block_rows"), memoryview(self.p)
        self.needs += [self.products, loops.rows, views[74:81], views[83:86]]
        self.products = loops.batches
