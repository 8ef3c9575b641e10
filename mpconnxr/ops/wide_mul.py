"""wide_mul: product of two tensors of 16-bit integers, each with a scale.

    out = saturate(round(a * b * scale) + zero),     scale = M * 2**(f - 37), M below 2**24

Serves mpconnxr:WideMul. The zero points of a and b are 0 (uint16: 32768).

    a, b, out  int16 or uint16, all of one dtype and size; out may be a or b
Rounded half to even, with 13 fraction bits. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..tensor import range_of

# params
_SHIFT = const(0)  # 0 to 30: to the left; from 32 on: by shift - 32 to the right
_HALF = const(1)  # added before a shift to the right
_MANTISSA = const(2)  # [upper, lower] 12 bits of M
_ZY = const(4)  # signed
_LOW = const(5)  # signed
_HIGH = const(6)  # signed
_N_PARAMS = const(7)

CALLS = True

_FLIPS = {"int16": 32768, "uint16": 0}


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, a)
    node.over(out, b)
    node.require(out.dtype in _FLIPS, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, a, b)
    node.require(a.nelem == b.nelem == out.nelem, "sizes differ")
    f, half, upper, lower = node.extents(0, _ZY)
    zero, least, most = node.signed(_ZY, _N_PARAMS - _ZY)
    low, high = range_of(out.dtype)
    node.require(f < 64 and max(upper, lower) < 4096, "scale")
    node.require(low <= least <= most <= high and low <= zero <= high, "limits")
    flip, n = _FLIPS[out.dtype], out.nelem
    a, b, out = [calls.place(t, "H") for t in (a, b, out)]
    loop = forms.get("wide").wide_mul
    for start, end in calls.parts(n):
        p = block(
            "wide.wide_mul",
            start=start,
            end=end,
            mul_shift=f,
            mul_out_zero_point=zero,
            mul_low=least,
            mul_high=most,
            mul_half=half,
            mul_flip=flip,
            mul_multiplier_high=upper,
            mul_multiplier_low=lower,
        )
        calls.call(loop, a, b, out, p)
