"""arg_reduce: where the largest or smallest item along an axis is.

    out[o, i] = k such that x[o, k, i] is largest (smallest); the first or the last of equal ones

Serves ArgMax and ArgMin (all opsets).

    x      float32, float64 or any integer dtype (outer, n, inner);  out  int64 or
           int32 (outer, inner)
The first NaN counts as largest and as smallest. Raises ModelError. A step allocates nothing for
float32 and bytes, for others only boxed floats and integers.
"""

from .. import forms
from ..parameters import block

# params
_SMALLEST = const(0)  # flag
_LAST = const(1)  # flag
_OUTER = const(2)
_N = const(3)
_INNER = const(4)
_N_PARAMS = const(5)


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.require(out.dtype in ("int64", "int32"), "dtype " + out.dtype)
    node.require(x.dtype not in ("float16", "bfloat16"), "dtype " + x.dtype)
    smallest, last, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(smallest < 2 and last < 2, "flags")
    node.require(outer * n * inner == x.nelem and outer * inner == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(n > 0, "picks from nothing")
    p, words = [0, 0, n, inner, smallest, last], 1 if out.dtype == "int32" else 2
    if x.dtype == "float32":
        loop, p = forms.get("arg_bits").arg_reduce, p + [words, 0x7FFFFFFF, 0x7F800000]
        step = _ArgReduce(loop, x.view("i"), out.view("i"), block(*p))
    elif x.dtype in ("uint8", "int8"):
        loop, p = forms.get("arg_bits").arg_reduce8, p + [words]
        p[4] = (128 if x.dtype == "int8" else 0) ^ (255 if smallest else 0)
        step = _ArgReduce(loop, x.view("B"), out.view("i"), block(*p))
    else:
        step = _ArgReduce(forms.get("arg_reduce").arg_reduce, x.data, out.data, block(*p))
    return out.nelem, step.step


class _ArgReduce:
    """The extent is outputs: outer x inner."""

    def __init__(self, loop, x, out, p):
        self.loop, self.x, self.out, self.p = loop, x, out, p

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)
