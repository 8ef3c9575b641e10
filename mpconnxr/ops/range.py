"""range: equidistant numbers.

    out[i] = start + i * delta        for all i of 0 .. ceil((limit - start) / delta) - 1

Serves Range (all opsets) with operands that are known only at run time.

    start, limit, delta   float32, float64, int16, int32 or int64 (1)
    out      same dtype, as many elements as there may be at most
Raises ModelError, and InputError for a delta of 0 and for more elements than the dim's bound. A
run allocates only integers and boxed floats.
"""

import math

from .. import forms
from ..blocks import block
from ..errors import InputError
from ..loops.series import _ELEMENTS

# params
_COUNT = const(0)  # [?] dim of the number of elements; none if out has a constant size

CALLS = True

_DTYPES = ("float32", "float64", "int16", "int32", "int64")


def prepare(node, calls):
    node.expect(3, 1, len(node.params))
    out = node.outputs[0]
    node.require(out.dtype in _DTYPES, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, *node.inputs)
    node.require(min([t.nelem for t in node.inputs]) > 0, "empty operand")
    count = node.dim(_COUNT) if len(node.params) else None
    node.require(not count or count.bound <= out.nelem, "output size")
    arithmetic = forms.get("series").arithmetic
    if count:
        return 1, _Counted(node, arithmetic, count).step
    start, _, delta = [calls.place(t) for t in node.inputs]
    p = block("series.arithmetic", elements=out.nelem)
    calls.call(arithmetic, start, delta, calls.place(out), p)


class _Counted:
    """Computes how many numbers there are, then the numbers."""

    def __init__(self, node, loop, count):
        self.start, self.limit, self.delta = [t.data for t in node.inputs]
        self.loop, self.out, self.count = loop, node.outputs[0].data, count
        self.name, self.is_integer = node.name, node.outputs[0].dtype[0] == "i"
        self.p = block("series.arithmetic", elements=0)

    def step(self, lo, hi):
        n = self._count(self.limit[0] - self.start[0], self.delta[0])
        self.count.set(n)
        self.p[_ELEMENTS] = n
        self.loop(self.start, self.delta, self.out, self.p)

    def _count(self, length, delta):
        if not delta:
            raise InputError(self.name + ": a delta of 0")
        if self.is_integer:
            return max(-(-length // delta), 0)
        n = length / delta
        if not n > 0:
            return 0
        return math.ceil(n) if n <= self.count.bound else self.count.bound + 1
