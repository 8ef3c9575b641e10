"""wide_add: sum of two tensors of 16-bit integers, each with a scale and zero point.

    out = saturate(round((a - za) * a_scale / scale + (b - zb) * b_scale / scale) + zero)

Serves mpconnxr:WideAdd.

    a, b, out  int16 or uint16, all of one dtype and size; out may be a or b
Rounded half to even, with 13 fraction bits; a value within 2**-14 of a tie counts as a tie. Raises
ModelError.
"""

from .. import forms
from ..blocks import block
from ..tensor import range_of

# params
_POINT = const(0)  # fraction bits, 1 to 13
_ZA = const(1)  # unsigned: int16 + 32768
_ZB = const(2)  # unsigned: int16 + 32768
_FACTORS = const(3)  # [a, b] signed, in units of 2**(-15 - point)
_ZY = const(5)  # signed
_LOW = const(6)  # signed
_HIGH = const(7)  # signed
_N_PARAMS = const(8)

CALLS = True

_FLIPS = {"int16": 32768, "uint16": 0}
_MOST = 1 << 29  # sum of both factors: elements are below 2**16, so that a sum stays below 2**30


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, a)
    node.over(out, b)
    node.require(out.dtype in _FLIPS, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, a, b)
    node.require(a.nelem == b.nelem == out.nelem, "sizes differ")
    bits, a_zero, b_zero = node.extents(0, _FACTORS)
    a_factor, b_factor, zero, least, most = node.signed(_FACTORS, _N_PARAMS - _FACTORS)
    low, high = range_of(out.dtype)
    node.require(0 < bits < 14 and max(a_zero, b_zero) < 65536, "bits or zero points")
    node.require(abs(a_factor) + abs(b_factor) <= _MOST, "factors")
    node.require(low <= least <= most <= high and low <= zero <= high, "limits")
    flip, n = _FLIPS[out.dtype], out.nelem
    a, b, out = [calls.place(t, "H") for t in (a, b, out)]
    loop = forms.get("wide").wide_add
    for start, end in calls.parts(n):
        p = block(
            "wide.wide_add",
            start=start,
            end=end,
            add_x_multiplier=a_factor,
            add_w_multiplier=b_factor,
            add_flip=flip,
            add_point=bits,
            add_x_zero_point=a_zero,
            add_w_zero_point=b_zero,
            add_out_zero_point=zero,
            add_low=least,
            add_high=most,
        )
        calls.call(loop, a, b, out, p)
