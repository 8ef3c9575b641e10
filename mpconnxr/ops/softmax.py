"""softmax: exponentials along an axis, scaled to a sum of one.

    softmax      out[o, k, i] = exp(x[o, k, i] - m) / sum over j of exp(x[o, j, i] - m)
    log_softmax  out[o, k, i] = x[o, k, i] - m - log(the same sum)
    hardmax      out[o, k, i] = 1 where x[o, k, i] is the first largest, else 0

where m is the largest x[o, j, i]. Serves Softmax, LogSoftmax and Hardmax (all opsets).

    x, out   float32 or float64 (outer, n, inner); may be the same memory
    params   op (0 softmax, 1 log_softmax, 2 hardmax), outer, n, inner
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..node import block


def prepare(node):
    node.expect(1, 1, 4)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    op, outer, n, inner = node.extents(0, 4)
    node.require(op < 3, "operation")
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    loops = forms.get("loops_softmax")
    step = _Softmax(x.data, out.data, block(0, 0, n, inner))
    step.loop = (loops.softmax, loops.log_softmax, loops.hardmax)[op]
    return outer * inner, step.step


class _Softmax:
    """The extent is lines: outer x inner."""

    def __init__(self, x, out, p):
        self.x, self.out, self.p = x, out, p

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)
