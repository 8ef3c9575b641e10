"""top_k: the k largest or smallest items along an axis, in order, and where they are.

Serves TopK (all opsets). Of equal items the one that comes first counts more. Where a NaN comes
in the order is undefined.

    x        float32, float64 or any integer dtype (outer, n, inner)
    values   as x (outer, k, inner);  indices  int64 or int32 (outer, k, inner)
    params   smallest (0 or 1), outer, n, inner, k
Raises ModelError. A step allocates only boxed floats and integers.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(1, 2, 5)
    x, values, indices = node.inputs[0], node.outputs[0], node.outputs[1]
    node.expect_dtype(x.dtype, values)
    node.require(indices.dtype in ("int64", "int32"), "indices of dtype " + indices.dtype)
    node.require(x.dtype not in ("float16", "bfloat16", "bool"), "dtype " + x.dtype)
    smallest, outer, n, inner, k = node.extents(0, 5)
    node.require(smallest < 2 and outer * n * inner == x.nelem and k <= n, "sizes")
    node.require(outer * k * inner == values.nelem == indices.nelem, "output sizes")
    if values.nelem == 0:
        return 0, None
    step = _TopK(x.data, indices.data, values.data, block(0, 0, n, inner, k, smallest))
    return outer * inner, step.step


class _TopK:
    """The extent is lines: outer x inner."""

    def __init__(self, x, indices, values, p):
        self.x, self.indices, self.values, self.p = x, indices, values, p
        self.loop = forms.get("top_k").top_k

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.indices, self.values, self.p)
