"""top_k: the k largest or smallest elements along an axis, sorted, with their indices.

Serves TopK (all opsets). Equal elements keep their order. With NaN the order is undefined.

    x        float32, float64 or any integer dtype (outer, n, inner)
    values   as x (outer, k, inner);  indices  int64 or int32 (outer, k, inner)
Raises ModelError. A run allocates only boxed floats and integers; for float32 nothing.
"""

from .. import forms
from ..blocks import block

# params
_SMALLEST = const(0)  # flag
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_K = const(4)
_N_PARAMS = const(5)

CALLS = True


def prepare(node, calls):
    node.expect(1, 2, _N_PARAMS)
    x, values, indices = node.inputs[0], node.outputs[0], node.outputs[1]
    node.expect_dtype(x.dtype, values)
    node.require(indices.dtype in ("int64", "int32"), "indices of dtype " + indices.dtype)
    node.require(x.dtype not in ("float16", "bfloat16", "bool"), "dtype " + x.dtype)
    smallest, outer, n, inner, k = node.extents(0, _N_PARAMS)
    node.require(smallest < 2 and outer * n * inner == x.nelem and k <= n, "sizes")
    node.require(outer * k * inner == values.nelem == indices.nelem, "output sizes")
    if values.nelem == 0:
        return
    code = "i" if x.dtype == "float32" else None
    words = 1 if indices.dtype == "int32" else 2
    x, indices, values = [calls.place(t, code) for t in (x, indices, values)]
    for start, end in calls.parts(outer * inner, n):
        if code:
            p = block(
                "best",
                start=start,
                end=end,
                length=n,
                inner=inner,
                out_length=k,
                is_minimum=smallest,
                words_per_index=words,
            )
            calls.call(forms.get("best").best32, x, indices, values, p)
        else:
            p = block(
                "top_k",
                start=start,
                end=end,
                length=n,
                inner=inner,
                out_length=k,
                is_minimum=smallest,
            )
            calls.call(forms.get("top_k").top_k, x, indices, values, p)
