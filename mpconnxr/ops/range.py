"""range: numbers at equal distances.

    out[i] = start + i * delta        for all i of 0 .. ceil((limit - start) / delta) - 1

Serves Range (all opsets), where a run decides the numbers.

    start, limit, delta   float32, float64, int16, int32 or int64 (1)
    out      the same, at least as many as there may be
Raises ModelError; InputError for a delta of 0, and for more items than the dim's bound. A step
allocates only integers and boxed floats.
"""

import math

from .. import forms
from ..errors import InputError
from ..parameters import block

# params
_COUNT = const(0)  # [?] dim of the number of items; none where it is that of out

_DTYPES = ("float32", "float64", "int16", "int32", "int64")


def prepare(node):
    node.expect(3, 1, len(node.params))
    out = node.outputs[0]
    node.require(out.dtype in _DTYPES, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, *node.inputs)
    node.require(min([t.nelem for t in node.inputs]) > 0, "empty operand")
    count = node.dim(_COUNT) if len(node.params) else None
    node.require(not count or count.bound <= out.nelem, "output size")
    numbers = _Range([t.data for t in node.inputs], out.data, count)
    numbers.name, numbers.integers = node.name, out.dtype[0] == "i"
    return 1, numbers.step


class _Range:
    def __init__(self, operands, out, count):
        self.start, self.limit, self.delta = operands
        self.out, self.count = out, count
        self.p = block(len(out))
        self.loop = forms.get("series").arithmetic

    def step(self, lo, hi):
        if self.count:
            n = self._items(self.limit[0] - self.start[0], self.delta[0])
            self.count.set(n)
            self.p[0] = n
        self.loop(self.start, self.delta, self.out, self.p)

    def _items(self, length, delta):
        if not delta:
            raise InputError(self.name + ": a delta of 0")
        if self.integers:
            return max(-(-length // delta), 0)
        n = length / delta
        if not n > 0:
            return 0
        return math.ceil(n) if n <= self.count.bound else self.count.bound + 1
