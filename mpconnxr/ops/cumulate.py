"""cumulate: running sums or products along an axis.

    out[o, k, i] = OP over j <= k of x[o, j, i]       (j < k if exclusive; from the end if reverse)

Serves CumSum and CumProd (all opsets).

    x, out  float32, float64 or any integer dtype (outer, n, inner); not the same memory
    params  product (0 or 1), exclusive (0 or 1), reverse (0 or 1), outer, n, inner
Integers wrap around. Raises ModelError. A step allocates only boxed floats and integers.
"""

from .. import forms
from ..node import block
from ..tensor import range_of


def prepare(node):
    node.expect(1, 1, 6)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    product, exclusive, reverse, outer, n, inner = node.extents(0, 6)
    node.require(product < 2 and exclusive < 2 and reverse < 2, "flags")
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    limits = range_of(x.dtype)
    node.require(limits or x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    if out.nelem == 0:
        return 0, None
    step = _Cumulate(x.data, out.data, block(0, 0, n, inner, product, exclusive, reverse))
    step.bind(limits)
    return outer * inner, step.step


class _Cumulate:
    """The extent is lines: outer x inner."""

    def __init__(self, x, out, p):
        self.x, self.out, self.p = x, out, p

    def bind(self, limits):
        loops = forms.get("loops_cumulate")
        self.loop = loops.cumulate_int if limits else loops.cumulate_float
        self.w = (-limits[0], limits[1] - limits[0]) if limits else ()

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.w, self.out, self.p)
