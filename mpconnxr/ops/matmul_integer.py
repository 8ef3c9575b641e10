"""matmul_integer: rows of bytes times rows of bytes, exact in int32, with zero points.

    out[b, m, n] = sum_k((a[b, m, k] - za) * (w[b, n, k] - z[n]))
                 = sum_k(a * w) - z[n] * sum_k(a) + c[b, n],   c[b, n] = za * (K * z[n] - sum_k(w))

Serves MatMulInteger (opset 10+). Signed bytes arrive plus 128 (so do their zero points), for both
operands: one loop of unsigned bytes serves all. The converter computes c.

    a    uint8 (A batches, M, K);  w  uint8 (W batches, N, K)
    c    int32 (W batches, N);  z  int32 (N);  out  int32 (n0, n1, M, N)
    scratch  int32, one item: the sum of a row
    params  n0, n1, M, N, K, batches of A to advance per step of n0 and n1, the same for W
Raises ModelError; K up to 33,000. A step allocates nothing unless a sum exceeds 2**30.
"""

from .. import forms
from ..node import block

_MAX_K = 33000  # K * 255 * 255 stays below 2**31


def prepare(node):
    node.expect(4, 1, 9, 1)
    a, w, c, z = node.inputs
    out, row_sum = node.outputs[0], node.scratch[0]
    node.expect_dtype("uint8", a, w)
    node.expect_dtype("int32", c, z, out, row_sum)
    n0, n1, m, n, k, a0, a1, w0, w1 = node.extents(0, 9)
    node.require(n0 * n1 * m * n == out.nelem and k <= _MAX_K, "output size or K")
    if out.nelem == 0:
        return 0, None
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(w_batches * n * k <= w.nelem and w_batches * n <= c.nelem, "W or c is too small")
    node.require(n <= z.nelem and row_sum.nelem > 0, "z or scratch is too small")
    step = _MatMul((a.data, w.data, out.data, row_sum.data), c.data, z.data)
    step.p = block(0, k, 0, 1, 0, n)
    step.sum_p = block(0, k, 0)
    step.shape = (m, n1, a0, a1, w0, w1)
    return n0 * n1 * m, step.step


class _MatMul:
    """One row of A, all rows of W a call; the extent is batches x rows."""

    def __init__(self, buffers, c, z):
        self.buffers = buffers
        self.c, self.z = c, z
        loops = forms.get("loops_dot_u8")
        self.dots, self.sum = loops.dots_u8, loops.sum_u8

    def step(self, lo, hi):
        p, q = self.p, self.sum_p
        a, w, out, row_sum = self.buffers
        m, n1, a0, a1, w0, w1 = self.shape
        while lo < hi:
            batch = lo // m
            i, j = batch // n1, batch % n1
            w_batch = i * w0 + j * w1
            p[0] = q[0] = ((i * a0 + j * a1) * m + lo % m) * p[1]
            p[2] = lo * p[5]
            p[4] = w_batch * p[5] * p[1]
            self.dots(a, w, out, p)
            self.sum(a, a, row_sum, q)
            self._correct(out, p[2], row_sum[0], w_batch * p[5])
            lo += 1

    def _correct(self, out, at, row_sum, c_at):
        c, z = self.c, self.z
        for i in range(self.p[5]):
            # wraps like int32: the true result fits, the parts may not
            v = out[at + i] - z[i] * row_sum + c[c_at + i]
            out[at + i] = (v + 0x80000000 & 0xFFFFFFFF) - 0x80000000
