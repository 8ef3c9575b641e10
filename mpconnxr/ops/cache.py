"""cache: rows go into a buffer from one that a run names; its other rows keep their contents.

    out[b, line, index[b] + i] = x[b, line, i]      (modulo n, where it is circular)

Serves TensorScatter (all opsets, any dtype), behind a copy of the past cache, or in its place.

    x      any dtype, seen as (batches, lines, rows, inner) items of 1 or 4 bytes
    index  int64 (batches);  out  as x, (batches, lines, n, inner)
Raises ModelError; InputError when it runs, for rows that reach beyond the buffer, or a negative
index. A step allocates nothing.
"""

from .. import forms
from ..parameters import block

# params
_UNIT = const(0)  # bytes of an item: 1 or 4
_BATCHES = const(1)
_LINES = const(2)
_N = const(3)
_COUNT = const(4)
_INNER = const(5)
_CIRCULAR = const(6)  # flag
_N_PARAMS = const(7)

_CODES = {1: "B", 4: "i"}
_BAD = 9  # where the loop's parameter block says that rows are out of range


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("int64", index)
    size, batches, lines, n, rows, inner, circular = node.extents(0, _N_PARAMS)
    node.require(size in _CODES and circular < 2, "item size or mode")
    node.require(batches <= index.nelem, "too few indices")
    node.require(batches * lines * rows * inner * size <= x.nbytes, "input size")
    node.require(batches * lines * n * inner * size <= out.nbytes, "output size")
    if 0 in (batches, lines, rows, inner):
        return 0, None
    node.require(rows <= n, "rows")
    loops = forms.get("cache")
    step = _Cache(x.view(_CODES[size]), index.view("i"), out.view(_CODES[size]))
    step.loop = loops.put8 if size == 1 else loops.put32
    step.p = block(0, 0, lines, n, rows, inner, circular, 0, 0, 0)
    step.judge = forms.get("gather").judge
    what = "{}: rows are outside of the {} of the cache".format(node.name, n)
    step.needs = [forms.later("gather_refuse", "refuse"), step.p, what]
    return batches, step.step


class _Cache:
    """The extent is batches."""

    def __init__(self, x, index, out):
        self.x, self.index, self.out = x, index, out

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        p[_BAD] = 0
        self.loop(self.x, self.index, self.out, p)
        self.judge(p, self.needs)
