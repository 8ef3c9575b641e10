"""scatter: rows of x into rows of out, chosen by numbers.

    out[index[k], i] = OP(out[index[k], i], x[k, i])

for k = 0, 1, ... in turn; what no index names keeps its contents. Serves ScatterElements,
ScatterND, Scatter and MaxUnpool (all opsets), after kernels move and offsets.

    x      any dtype (OP copy), float32, float64 or any integer dtype (others)  (K, inner)
    index  int32 (K), from 0 to n - 1;  out  as x, (n, inner)
    params op (0 copy, 1 add, 2 mul, 3 max, 4 min), n, inner (in elements)
Integers wrap around; max and min are NaN where one is there. Raises ModelError; InputError when it
runs, for an index out of range. A step allocates only what arithmetic does (boxed floats, integers
of more than 30 bits).
"""

from .. import forms
from ..errors import InputError
from ..parameters import block
from ..tensor import range_of

_COPY, _ADD, _MUL, _MAX, _MIN = range(5)


def prepare(node):
    node.expect(2, 1, 3)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", index)
    op, n, inner = node.extents(0, 3)
    node.require(op <= _MIN, "operation")
    node.require(index.nelem * inner == x.nelem and n * inner == out.nelem, "sizes")
    limits = range_of(x.dtype)
    node.require(op == _COPY or limits or x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    if x.nelem == 0:
        return 0, None
    half, mask = (-limits[0], limits[1] - limits[0]) if limits and op in (_ADD, _MUL) else (0, 0)
    step = _Scatter(node.name, block(0, 0, 0, n, inner, op))
    step.x, step.out = x.data, out.data
    step.w = (index.data, half, mask)
    return index.nelem, step.step


class _Scatter:
    """The extent is rows of x, to be done in turn."""

    def __init__(self, name, p):
        self.name, self.p = name, p
        self.loop = forms.get("scatter").scatter

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        p[2] = 0
        self.loop(self.x, self.w, self.out, p)
        if p[2]:
            raise InputError(self.name + ": an index is out of range")
