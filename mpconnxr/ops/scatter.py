"""scatter: rows of x combined into rows of out that indices select.

    out[index[k], i] = OP(out[index[k], i], x[k, i])

for k = 0, 1, ... in order; rows that no index selects keep their contents. Serves ScatterElements,
ScatterND, Scatter and MaxUnpool (all opsets), after kernels move and offsets.

    x      any dtype (OP copy); float32, float64 or any integer dtype (others)  (K, inner)
    index  int32 (K), from 0 to n - 1;  out  as x, (n, inner)

Integers wrap around; max and min are NaN if either value is. Raises ModelError, and InputError at
run time for an index out of range. A step that copies allocates nothing, others only boxed floats
and integers of more than 30 bits.
"""

from .. import forms
from ..blocks import block
from ..build.calls import wrap_bits
from ..loops.put import _HAS_BAD_INDEX
from ..tensor import range_of

# params
_OP = const(0)  # 0 copy, 1 add, 2 mul, 3 max, 4 min
_N = const(1)
_INNER = const(2)  # elements of a row
_N_PARAMS = const(3)

CALLS = True
_COPY, _ADD, _MUL, _MAX, _MIN = range(5)


def prepare(node, calls):
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
        return
    if op == _COPY:
        return _emit_copies(node, calls, x, index, out, n, inner)
    bits = wrap_bits(limits) if limits and op in (_ADD, _MUL) else [0, 0]
    loop, indices = forms.get("scatter").scatter, [calls.place(index), node.name.encode()]
    indices = calls.hold(indices)
    n_rows, x, out = index.nelem, calls.place(x), calls.place(out)
    for start, end in calls.parts(n_rows, inner):
        p = block(
            "scatter",
            start=start,
            end=end,
            out_rows=n,
            elements_per_row=inner,
            operation=op,
            bits_if_signed=bits[0],
            bits=bits[1],
        )
        calls.call(loop, x, indices, out, p)


def _emit_copies(node, calls, x, index, out, n, inner):
    """Emit calls that copy rows, as bytes or words."""
    size, n_rows = x.nbytes // x.nelem, index.nelem
    loop, code = forms.get("put").put8, "B"
    if size % 4 == 0:
        loop, code, size = forms.get("put").put32, "i", size // 4
    judge = forms.get("gather").judge
    refusal = [calls.later("gather_refuse", "refuse"), node.name + ": an index is out of range"]
    x, index, out = calls.place(x, code), calls.place(index), calls.place(out, code)
    for start, end in calls.parts(n_rows, inner):
        p = block(
            "put",
            start=start,
            end=end,
            out_rows=n,
            elements_per_row=inner * size,
            unused=(0, 0, 0, 0, 0),
            has_bad_index=0,
        )
        calls.call(loop, x, index, out, p)
        calls.drive(judge, None, refusal, (_HAS_BAD_INDEX,))
