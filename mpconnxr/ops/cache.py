"""cache: write rows into a buffer at an index known only at run time; keep its other rows.

    out[b, line, index[b] + i] = x[b, line, i]      (modulo n if circular)

Serves TensorScatter (all opsets, any dtype), after a copy of the past cache or in its place.

    x      any dtype, seen as (batches, lines, rows, inner) elements of 1 or 4 bytes
    index  int64 (batches)
    out    as x, (batches, lines, n, inner)
Raises ModelError, and InputError at run time for a negative index or rows beyond the buffer. A
step allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.cache import _HAS_BAD_INDEX

# params
_UNIT = const(0)  # bytes of an element: 1 or 4
_BATCHES = const(1)
_LINES = const(2)
_N = const(3)
_COUNT = const(4)
_INNER = const(5)
_CIRCULAR = const(6)  # flag
_N_PARAMS = const(7)

CALLS = True
_CODES = {1: "B", 4: "i"}


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("int64", index)
    size, batches, lines, n, rows, inner, circular = node.extents(0, _N_PARAMS)
    node.require(size in _CODES and circular < 2, "element size or mode")
    node.require(batches <= index.nelem, "too few indices")
    node.require(batches * lines * rows * inner * size <= x.nbytes, "input size")
    node.require(batches * lines * n * inner * size <= out.nbytes, "output size")
    if 0 in (batches, lines, rows, inner):
        return
    node.require(rows <= n, "rows")
    loops, code = forms.get("cache"), _CODES[size]
    loop, judge = loops.put8 if size == 1 else loops.put32, forms.get("gather").judge
    what = "{}: rows are outside of the {} of the cache".format(node.name, n)
    refusal = [calls.later("gather_refuse", "refuse"), what]
    x, index, out = calls.place(x, code), calls.place(index, "i"), calls.place(out, code)
    for batch, batch_end in calls.parts(batches, lines * rows * inner):
        p = block(
            "cache",
            batch=batch,
            batch_end=batch_end,
            lines=lines,
            out_rows=n,
            rows=rows,
            columns=inner,
            is_circular=circular,
            spare=(0, 0),
            has_bad_index=0,
        )
        calls.call(loop, x, index, out, p)
        calls.drive(judge, None, refusal, (_HAS_BAD_INDEX,))
