"""det: determinants of square matrices, by Gaussian elimination with partial pivoting.

Serves Det (all opsets).

    x      float32 or float64 (batch, n, n);  out  same dtype (batch)
    scratch  same dtype, n * n elements
The determinant of an empty matrix is 1. Raises ModelError. A run allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_BATCH = const(0)
_N = const(1)
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS, 1)
    x, out, work = node.inputs[0], node.outputs[0], node.scratch[0]
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, out, work)
    batch, n = node.extents(0, _N_PARAMS)
    node.require(batch * n * n == x.nelem and batch == out.nelem, "sizes")
    node.require(n * n <= work.nelem, "scratch size")
    x, work, out = calls.place(x), calls.place(work), calls.place(out)
    for matrix in calls.repeat(batch):
        p = block("det", matrix=matrix, rows=n)
        calls.call(forms.get("det").determinant, x, work, out, p)
