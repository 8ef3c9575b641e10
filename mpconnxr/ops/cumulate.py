"""cumulate: running sums or products along an axis.

    out[o, k, i] = OP over j <= k of x[o, j, i]       (j < k if exclusive; from the end if reverse)

Serves CumSum and CumProd (all opsets).

    x, out  float32, float64 or any integer dtype (outer, n, inner); not the same memory
Integers wrap around. Of float32 each is the one before and an item, rounded as numpy does, with
the same bits in every form; where viper is that allocates nothing. Else a step allocates boxed
floats and integers. Raises ModelError.
"""

from array import array

from .. import forms
from ..parameters import block
from ..tensor import range_of
from ._wrap import bits_of

# params
_PRODUCT = const(0)  # flag
_EXCLUSIVE = const(1)  # flag
_REVERSE = const(2)  # flag
_OUTER = const(3)
_N = const(4)
_INNER = const(5)
_N_PARAMS = const(6)


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    product, exclusive, reverse, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(product < 2 and exclusive < 2 and reverse < 2, "flags")
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    limits = range_of(x.dtype)
    node.require(limits or x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    if out.nelem == 0:
        return 0, None
    if x.dtype == "float32" and not reverse:
        return outer, _Chain(x.data, out.data, (n, inner), product, exclusive).step
    p = [0, 0, n, inner, product, exclusive, reverse] + (bits_of(limits) if limits else [])
    step = _Cumulate(x.data, out.data, block(*p))
    loops = forms.get("cumulate")
    step.loop = loops.cumulate_int if limits else loops.cumulate_float
    return outer * inner, step.step


class _Cumulate:
    """The extent is lines: outer x inner."""

    def __init__(self, x, out, p):
        self.x, self.out, self.p = x, out, p

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)


class _Chain:
    """Sums or products of float32 on the bits: out is an operand as well. The extent is outer."""

    def __init__(self, x, out, shape, product, exclusive):
        self.x, self.out, self.shape, self.exclusive = x, out, shape, exclusive
        n, inner = shape
        self.one, self.first = array("f", [1.0]), array("f", [float(product)])
        self.head_p = block(0, 0, 0 if exclusive else 1, 0, 0, 0, 0, 1, inner, 0)
        self.p = block(0, 0, 1, 0, 0, 1, 0, 1, (n - 1) * inner, 0)
        self.mul = forms.get("mul").mul32
        self.loop = self.mul if product else forms.get("add").add32

    def step(self, lo, hi):
        while lo < hi:
            self._line(lo * self.shape[0] * self.shape[1])
            lo += 1

    def _line(self, at):
        head, p = self.head_p, self.p
        head[6] = p[0] = p[3] = at
        p[6] = at + self.shape[1]
        if not self.exclusive:
            head[0] = at
            p[3] = p[6]
        self.mul(self.first if self.exclusive else self.x, self.one, self.out, head)
        self.loop(self.out, self.x, self.out, p)
