"""offsets: tuples of indices to row numbers, for gather and scatter.

    out[i0, i1, ...] = sum over d of i_d * stride_d + sum over t of index[i0, i1, ..., t] * step_t

(a negative index counts from the end of its axis, which has size_t items). Serves GatherElements,
GatherND, ScatterElements, ScatterND and Scatter (all opsets).

    index  int32 or int64 (dims..., T);  out  int32 (dims...)
Raises ModelError; InputError when it runs, for an index outside -size .. size - 1. A step
allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

# params
_RANK = const(0)
_N_T = const(1)
_DIMS = const(2)  # [rank]
# then strides: [rank]
# then sizes: [n_t]
# then steps: [n_t]

_BAD = 9  # where the loop's parameter block says that an index was out of range


def prepare(node):
    node.require(len(node.params) >= 2, "params")
    rank, n_t = node.extents(0, _DIMS)
    node.require(n_t > 0, "tuples of nothing")
    node.expect(1, 1, _DIMS + 2 * rank + 2 * n_t)
    index, out = node.inputs[0], node.outputs[0]
    node.require(index.dtype in ("int32", "int64"), "indices of dtype " + index.dtype)
    node.expect_dtype("int32", out)
    dims, strides = node.extents(_DIMS, rank), node.extents(_DIMS + rank, rank)
    sizes, steps = node.extents(_DIMS + 2 * rank, n_t), node.extents(_DIMS + 2 * rank + n_t, n_t)
    n, last = 1, 0
    for d, s in zip(dims + sizes, strides + steps):
        last += max(d - 1, 0) * s
    for d in dims:
        n *= d
    node.require(n == out.nelem and n * n_t == index.nelem and last < BIAS, "sizes")
    if n == 0:
        return 0, None
    node.require(min(sizes + [1]) > 0, "picks from nothing")
    words = 2 if index.dtype == "int64" else 1
    p = block(0, 0, rank, n_t, words, 0, -1, 0, 0, 0, *list(node.params)[_DIMS:] + [0] * rank)
    what = node.name + ": an index is out of range"
    return n, _Offsets(index.view("i"), out.view("i"), p, what).step


class _Offsets:
    """The extent is tuples."""

    def __init__(self, index, out, p, what):
        self.index, self.out, self.p = index, out, p
        self.loop, self.judge = forms.get("offsets").offsets, forms.get("gather").judge
        self.needs = [forms.later("gather_refuse", "refuse"), p, what]

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        p[_BAD] = 0
        self.loop(self.index, self.index, self.out, p)
        self.judge(p, self.needs)
