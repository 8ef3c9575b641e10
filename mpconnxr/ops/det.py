"""det: determinants of square matrices, by elimination with partial pivoting.

Serves Det (all opsets).

    x      float32 or float64 (batch, n, n);  out  same dtype (batch)
    scratch  same dtype, n * n items
    params batch, n
The determinant of an empty matrix is 1. Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(1, 1, 2, 1)
    x, out, work = node.inputs[0], node.outputs[0], node.scratch[0]
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, out, work)
    batch, n = node.extents(0, 2)
    node.require(batch * n * n == x.nelem and batch == out.nelem, "sizes")
    node.require(n * n <= work.nelem, "scratch size")
    return batch, _Det(x.data, work.data, out.data, block(0, n)).step


class _Det:
    """The extent is matrices."""

    def __init__(self, x, work, out, p):
        self.x, self.work, self.out, self.p = x, work, out, p
        self.loop = forms.get("det").determinant

    def step(self, lo, hi):
        while lo < hi:
            self.p[0] = lo
            self.loop(self.x, self.work, self.out, self.p)
            lo += 1
