"""arg_reduce: index of the largest or smallest element along an axis.

    out[o, i] = k such that x[o, k, i] is largest (smallest); of equal ones the first or the last

Serves ArgMax and ArgMin (all opsets).

    x      float32, float64 or any integer dtype (outer, n, inner)
    out    int64 or int32 (outer, inner)
The first NaN counts as the largest and as the smallest. Raises ModelError. A run allocates nothing
for float32 and bytes; for other dtypes only boxed floats and integers.
"""

from .. import forms
from ..blocks import block

# params
_SMALLEST = const(0)  # flag
_LAST = const(1)  # flag
_OUTER = const(2)
_N = const(3)
_INNER = const(4)
_N_PARAMS = const(5)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.require(out.dtype in ("int64", "int32"), "dtype " + out.dtype)
    node.require(x.dtype not in ("float16", "bfloat16"), "dtype " + x.dtype)
    smallest, last, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(smallest < 2 and last < 2, "flags")
    node.require(outer * n * inner == x.nelem and outer * inner == out.nelem, "sizes")
    if out.nelem == 0:
        return
    node.require(n > 0, "picks from nothing")
    words = 1 if out.dtype == "int32" else 2
    code = {"float32": "i", "uint8": "B", "int8": "B"}.get(x.dtype)
    elements, indices = calls.place(x, code), calls.place(out, "i" if code else None)
    for start, end in calls.parts(out.nelem, n):
        if code == "i":
            p = block(
                "arg_bits.arg_reduce",
                start=start,
                end=end,
                length=n,
                inner=inner,
                is_minimum=smallest,
                is_last=last,
                words_per_index=words,
                magnitude_mask=0x7FFFFFFF,
                infinity=0x7F800000,
            )
            calls.call(forms.get("arg_bits").arg_reduce, elements, None, indices, p)
        elif code:
            p = block(
                "arg_bits.arg_reduce8",
                start=start,
                end=end,
                length=n,
                inner=inner,
                key_mask=(128 if x.dtype == "int8" else 0) ^ (255 if smallest else 0),
                is_last=last,
                words_per_index=words,
            )
            calls.call(forms.get("arg_bits").arg_reduce8, elements, None, indices, p)
        else:
            p = block(
                "arg_reduce",
                start=start,
                end=end,
                length=n,
                inner=inner,
                is_minimum=smallest,
                is_last=last,
            )
            calls.call(forms.get("arg_reduce").arg_reduce, elements, None, indices, p)
