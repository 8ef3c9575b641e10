"""gather: rows of x selected by indices.

    out[o, k, i] = x[o, index[k], i]        (a negative index counts from the end)

Serves Gather (all opsets, all dtypes) and every operator that selects along one axis by a table.

    x      any dtype, seen as (outer, n, inner) elements of 1 or 4 bytes (8-byte dtypes are pairs
           of 4-byte elements, 2-byte ones pairs of bytes: inner counts these)
    index  int32 or int64, K elements
    out    as x, (outer, K, inner)
Raises ModelError, and InputError at run time for an index outside of -n .. n - 1. A step allocates
nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.gather import _HAS_BAD_INDEX

# params
_UNIT = const(0)  # bytes of an element: 1 or 4
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_N_PARAMS = const(4)

CALLS = True
STREAMS = (0,)
_CODES = {1: "B", 4: "i"}


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.require(index.dtype in ("int32", "int64"), "indices of dtype " + index.dtype)
    size, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(size in _CODES, "element size")
    node.require(outer * n * inner * size == x.nbytes, "input size")
    node.require(outer * index.nelem * inner * size == out.nbytes, "output size")
    if out.nbytes == 0:
        return
    node.require(n > 0, "picks from nothing")
    loops, code = forms.get("gather"), _CODES[size]
    what = "{}: an index is outside -{} .. {}".format(node.name, n, n - 1)
    refusal = [calls.later("gather_refuse", "refuse"), what]
    words_per_index = 2 if index.dtype == "int64" else 1
    shape = index.nelem, n, inner, words_per_index
    loop = loops.gather8 if size == 1 else loops.gather32
    buffers = calls.place(x, code), calls.place(index, "i"), calls.place(out, code)
    # All outer rows use the same indices: checking them once, with the first row, suffices.
    _emit(calls, loop, buffers, shape, (0, 1), loops.judge, refusal)
    _emit(calls, loop, buffers, shape, (1, outer - 1))


def _emit(calls, loop, buffers, shape, rows, judge=None, refusal=None):
    """Emit the calls for some outer rows; rows is (first, number)."""
    k, n, inner, words_per_index = shape
    x, index, out = buffers
    first, n_rows = rows
    for row in calls.repeat(n_rows):
        for start, end in calls.parts(k, inner):
            p = block(
                "gather",
                start=start,
                end=end,
                words_per_index=words_per_index,
                rows=n,
                elements_per_row=inner,
                x_start=(first + row) * n * inner,
                out_start=(first + row) * k * inner,
                index=0,
                minus_one=-1,
                has_bad_index=0,
            )
            calls.call(loop, x, index, out, p)
            if judge:
                calls.drive(judge, None, refusal, (_HAS_BAD_INDEX,))
