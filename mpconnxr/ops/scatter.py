"""scatter: rows of x into rows of out, chosen by numbers.

    out[index[k], i] = OP(out[index[k], i], x[k, i])

for k = 0, 1, ... in turn; what no index names keeps its contents. Serves ScatterElements,
ScatterND, Scatter and MaxUnpool (all opsets), after kernels move and offsets.

    x      any dtype (OP copy), float32, float64 or any integer dtype (others)  (K, inner)
    index  int32 (K), from 0 to n - 1;  out  as x, (n, inner)
Integers wrap around; max and min are NaN where one is there. Raises ModelError; InputError when it
runs, for an index out of range. A step that copies allocates nothing, others only what arithmetic
does (boxed floats, integers of more than 30 bits).
"""

from .. import forms
from ..parameters import block
from ..tensor import range_of
from ._wrap import bits_of

# params
_OP = const(0)  # 0 copy, 1 add, 2 mul, 3 max, 4 min
_N = const(1)
_INNER = const(2)  # in elements
_N_PARAMS = const(3)

_BAD = 9  # where loops/put says that an index was out of range
_COPY, _ADD, _MUL, _MAX, _MIN = range(5)


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", index)
    op, n, inner = node.extents(0, _N_PARAMS)
    node.require(op <= _MIN, "operation")
    node.require(index.nelem * inner == x.nelem and n * inner == out.nelem, "sizes")
    limits = range_of(x.dtype)
    node.require(op == _COPY or limits or x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    if x.nelem == 0:
        return 0, None
    if op == _COPY:
        return index.nelem, _put(node, x, index, out, (n, inner)).step
    bits = bits_of(limits) if limits and op in (_ADD, _MUL) else [0, 0]
    step = _Scatter((index.data, node.name.encode()), block(0, 0, n, inner, op, *bits))
    step.x, step.out = x.data, out.data
    return index.nelem, step.step


def _put(node, x, index, out, shape):
    """The step that copies, as bytes or words."""
    n, inner = shape
    size = x.nbytes // x.nelem
    code, loops = "i" if size % 4 == 0 else "B", forms.get("put")
    inner = inner * size // (4 if code == "i" else 1)
    step = _Put(node.name, index.view("i"), block(0, 0, n, inner, 0, 0, 0, 0, 0, 0))
    step.loop = loops.put32 if code == "i" else loops.put8
    step.x, step.out = x.view(code), out.view(code)
    return step


class _Put:
    """The extent is rows of x, to be done in turn."""

    def __init__(self, name, index, p):
        self.index, self.p = index, p
        self.judge = forms.get("gather").judge
        what = name + ": an index is out of range"
        self.needs = [forms.later("gather_refuse", "refuse"), p, what]

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        p[_BAD] = 0
        self.loop(self.x, self.index, self.out, p)
        self.judge(p, self.needs)


class _Scatter:
    """The extent is rows of x, to be done in turn."""

    def __init__(self, w, p):
        self.w, self.p = w, p
        self.loop = forms.get("scatter").scatter

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.w, self.out, self.p)
