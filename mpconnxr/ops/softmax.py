"""softmax: exponentials along an axis, scaled to a sum of one.

    softmax      out[o, k, i] = exp(x[o, k, i] - m) / sum over j of exp(x[o, j, i] - m)
    log_softmax  out[o, k, i] = x[o, k, i] - m - log(the same sum)
    hardmax      out[o, k, i] = 1 where x[o, k, i] is the first largest, else 0

where m is the largest x[o, j, i]. Serves Softmax, LogSoftmax and Hardmax (all opsets).

    x, out   float32 or float64 (outer, n, inner); may be the same memory
    params   op (0 softmax, 1 log_softmax, 2 hardmax), outer, n, inner
Softmax of float32 lines of up to 32767 items computes with integers: the same bits in every form,
within 1e-6 of the exact value where that is at least 2**-125, and it allocates nothing where viper
is. Other steps allocate boxed floats. Raises ModelError.
"""

from .. import forms
from ..parameters import block

_MOST = 0x7FFF  # items of a line on the bits


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
    # A line is read before it is written; lines of an inner dim lie between one another.
    node.over(out, x, 0 if inner == 1 else x.nbytes // outer)
    if op == 0 and x.dtype == "float32" and 0 < n <= _MOST:
        from ._softmax_bits import Lines

        return outer * inner, Lines(x.view("i"), out.view("i"), n, inner).step
    loops = forms.get("softmax")
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
