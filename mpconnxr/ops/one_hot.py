"""one_hot: one-hot encoding of indices along a new axis.

    out[o, d, i] = values[1] if index[o, i] is d or d - depth, else values[0]

Serves OneHot (all opsets). An index outside of -depth .. depth - 1 gives only values[0].

    index  float32, float64 or any integer dtype (outer, inner)
    values any dtype (2);  out  same dtype (outer, depth, inner)
Raises ModelError. A run allocates only boxed floats and integers; for int32 indices and 32-bit
values nothing where viper runs.
"""

from .. import forms
from ..blocks import block

# params
_OUTER = const(0)
_DEPTH = const(1)
_INNER = const(2)
_N_PARAMS = const(3)

CALLS = True


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    index, values, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.require(index.dtype not in ("float16", "bfloat16"), "indices of dtype " + index.dtype)
    node.expect_dtype(values.dtype, out)
    outer, depth, inner = node.extents(0, _N_PARAMS)
    node.require(outer * inner == index.nelem and values.nelem == 2, "sizes")
    node.require(outer * depth * inner == out.nelem, "output size")
    if out.nelem == 0:
        return
    if index.dtype == "int32" and values.dtype in ("float32", "int32", "uint32"):
        loop, code = forms.get("ints").one_hot32, "i"
    else:
        loop, code = forms.get("one_hot").one_hot, None
    index, values, out = calls.place(index), calls.place(values, code), calls.place(out, code)
    for start, end in calls.parts(outer * depth, inner):
        p = block("one_hot", start=start, end=end, classes=depth, inner=inner)
        calls.call(loop, index, values, out, p)
