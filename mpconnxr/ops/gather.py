"""gather: rows of x chosen by indices.

    out[o, k, i] = x[o, index[k], i]        (a negative index counts from the end)

Serves Gather (all opsets, all dtypes) and whatever else picks along one axis by a table.

    x      any dtype, seen as (outer, n, inner) items of 1 or 4 bytes (8-byte dtypes are pairs of
           4-byte items, 2-byte ones pairs of bytes: inner counts items)
    index  int32 or int64, K in all;  out  as x, (outer, K, inner)
Raises ModelError; InputError when it runs, for an index outside -n .. n - 1. A step allocates
nothing.
"""

from .. import forms
from ..parameters import block

# params
_UNIT = const(0)  # bytes of an item: 1 or 4
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_N_PARAMS = const(4)

STREAMS = (0,)
_CODES = {1: "B", 4: "i"}
_BAD = 9  # where the loop's parameter block counts indices out of range


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.require(index.dtype in ("int32", "int64"), "indices of dtype " + index.dtype)
    size, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(size in _CODES, "item size")
    node.require(outer * n * inner * size == x.nbytes, "input size")
    node.require(outer * index.nelem * inner * size == out.nbytes, "output size")
    if out.nbytes == 0:
        return 0, None
    node.require(n > 0, "picks from nothing")
    step = _Gather(node.name, index, (outer, n, inner))
    loops = forms.get("gather")
    step.bind(
        loops.gather8 if size == 1 else loops.gather32,
        x.view(_CODES[size]),
        out.view(_CODES[size]),
    )
    return outer * index.nelem, step.step


class _Gather:
    """The extent is rows of the output: outer x K."""

    def __init__(self, name, index, shape):
        self.name = name
        self.index = index.view("i")
        self.k = index.nelem
        _, self.n, self.inner = shape
        words = 2 if index.dtype == "int64" else 1
        self.p = block(0, 0, words, self.n, self.inner, 0, 0, 0, -1, 0)

    def bind(self, loop, x, out):
        self.loop, self.x, self.out = loop, x, out
        self.judge = forms.get("gather").judge
        what = "{}: an index is outside -{} .. {}".format(self.name, self.n, self.n - 1)
        self.needs = [forms.later("gather_refuse", "refuse"), self.p, what]

    def step(self, lo, hi):
        p = self.p  # few locals: a frame of more than 11 words would come from the heap
        p[_BAD] = 0
        while lo < hi:
            p[0] = lo % self.k
            p[1] = min(self.k, p[0] + hi - lo)
            p[5] = lo // self.k * self.n * self.inner
            p[6] = lo // self.k * self.k * self.inner
            self.loop(self.x, self.index, self.out, p)
            lo += p[1] - p[0]
        self.judge(p, self.needs)
