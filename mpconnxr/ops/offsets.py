"""offsets: tuples of indices to row numbers, for gather and scatter.

    out[i0, i1, ...] = sum over d of i_d * stride_d + sum over t of index[i0, i1, ..., t] * step_t

(a negative index counts from the end of its axis, which has size_t elements). Serves
GatherElements, GatherND, ScatterElements, ScatterND and Scatter (all opsets).

    index  int32 or int64 (dims..., T);  out  int32 (dims...)
Raises ModelError, and InputError at run time for an index outside of -size .. size - 1. A step
allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.offsets import _HAS_BAD_INDEX
from ..parameters import BIAS

# params
_RANK = const(0)
_N_T = const(1)
_DIMS = const(2)  # [rank]
# then strides: [rank]
# then sizes: [n_t]
# then steps: [n_t]

CALLS = True


def prepare(node, calls):
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
        return
    node.require(min(sizes + [1]) > 0, "picks from nothing")
    loop, judge = forms.get("offsets").offsets, forms.get("gather").judge
    refusal = [calls.later("gather_refuse", "refuse"), node.name + ": an index is out of range"]
    words_per_index = 2 if index.dtype == "int64" else 1
    table = list(node.params)[_DIMS:] + [0] * rank
    index, out = calls.place(index, "i"), calls.place(out)
    for start, end in calls.parts(n, n_t):
        p = block(
            "offsets",
            start=start,
            end=end,
            rank=rank,
            indices_per_tuple=n_t,
            words_per_index=words_per_index,
            index=0,
            minus_one=-1,
            unused=(0, 0),
            has_bad_index=0,
            table=table,
        )
        calls.call(loop, index, None, out, p)
        calls.drive(judge, None, refusal, (_HAS_BAD_INDEX,))
