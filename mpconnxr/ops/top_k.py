"""top_k: the k largest or smallest items along an axis, in order, and where they are.

Serves TopK (all opsets). Of equal items the one that comes first counts more. Where a NaN comes
in the order is undefined.

    x        float32, float64 or any integer dtype (outer, n, inner)
    values   as x (outer, k, inner);  indices  int64 or int32 (outer, k, inner)
Raises ModelError. A step allocates only boxed floats and integers, of float32 nothing.
"""

from .. import forms
from ..parameters import block

# params
_SMALLEST = const(0)  # flag
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_K = const(4)
_N_PARAMS = const(5)


def prepare(node):
    node.expect(1, 2, _N_PARAMS)
    x, values, indices = node.inputs[0], node.outputs[0], node.outputs[1]
    node.expect_dtype(x.dtype, values)
    node.require(indices.dtype in ("int64", "int32"), "indices of dtype " + indices.dtype)
    node.require(x.dtype not in ("float16", "bfloat16", "bool"), "dtype " + x.dtype)
    smallest, outer, n, inner, k = node.extents(0, _N_PARAMS)
    node.require(smallest < 2 and outer * n * inner == x.nelem and k <= n, "sizes")
    node.require(outer * k * inner == values.nelem == indices.nelem, "output sizes")
    if values.nelem == 0:
        return 0, None
    p = [0, 0, n, inner, k, smallest]
    if x.dtype == "float32":
        p.append(1 if indices.dtype == "int32" else 2)
        step = _TopK(x.view("i"), indices.view("i"), values.view("i"), block(*p))
        step.loop = forms.get("best").best32
    else:
        step = _TopK(x.data, indices.data, values.data, block(*p))
        step.loop = forms.get("top_k").top_k
    return outer * inner, step.step


class _TopK:
    """The extent is lines: outer x inner."""

    def __init__(self, x, indices, values, p):
        self.x, self.indices, self.values, self.p = x, indices, values, p

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.indices, self.values, self.p)
