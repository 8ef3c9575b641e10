"""arg_reduce: where the largest or smallest item along an axis is.

    out[o, i] = k such that x[o, k, i] is largest (smallest); the first or the last of equal ones

Serves ArgMax and ArgMin (all opsets).

    x      float32, float64 or any integer dtype (outer, n, inner);  out  int64 or
           int32 (outer, inner)
    params smallest (0 or 1), last (0 or 1), outer, n, inner
The first NaN counts as largest and as smallest. Raises ModelError. A step allocates nothing for
float32, for others only boxed floats and integers.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(1, 1, 5)
    x, out = node.inputs[0], node.outputs[0]
    node.require(out.dtype in ("int64", "int32"), "dtype " + out.dtype)
    node.require(x.dtype not in ("float16", "bfloat16"), "dtype " + x.dtype)
    smallest, last, outer, n, inner = node.extents(0, 5)
    node.require(smallest < 2 and last < 2, "flags")
    node.require(outer * n * inner == x.nelem and outer * inner == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(n > 0, "picks from nothing")
    p = [0, 0, n, inner, smallest, last]
    if x.dtype == "float32":
        p += [1 if out.dtype == "int32" else 2, 0x7FFFFFFF, 0x7F800000]
        step = _ArgReduce(forms.get("arg_bits"), x.view("i"), out.view("i"), block(*p))
    else:
        step = _ArgReduce(forms.get("arg_reduce"), x.data, out.data, block(*p))
    return out.nelem, step.step


class _ArgReduce:
    """The extent is outputs: outer x inner."""

    def __init__(self, loops, x, out, p):
        self.x, self.out, self.p = x, out, p
        self.loop = loops.arg_reduce

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)
