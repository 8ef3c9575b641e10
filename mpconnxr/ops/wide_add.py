"""wide_add: sums of two tensors of 16-bit integers, each with a scale and zero point.

    out = limited(round((a - za) * a_scale / scale + (b - zb) * b_scale / scale) + zero)

Serves mpconnxr:WideAdd.

    a, b, out  int16 or uint16, all of the same dtype and as many items; out may be one of them
    params  bits behind the point (1 to 13), za, zb (unsigned: int16 + 32768), signed: factors of a
            and b in units of 2**-15 times those of the point, zero, least and greatest of out
Rounded to even; what lies within 2**-14 of the middle, with 13 bits behind the point, is taken for
the middle. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of
from ._inline import Items

_FLIPS = {"int16": 32768, "uint16": 0}
_MOST = 1 << 29  # of both factors: items are below 2**16, so that a sum stays below 2**30


def prepare(node):
    node.expect(2, 1, 8)
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, a)
    node.over(out, b)
    node.require(out.dtype in _FLIPS, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, a, b)
    node.require(a.nelem == b.nelem == out.nelem, "sizes differ")
    bits, *zeros = node.extents(0, 3)
    signed = node.signed(3, 5)
    low, high = range_of(out.dtype)
    node.require(0 < bits < 14 and max(zeros) < 65536, "bits or zero points")
    node.require(abs(signed[0]) + abs(signed[1]) <= _MOST, "factors")
    node.require(low <= signed[3] <= signed[4] <= high, "limits")
    signed = [v + BIAS for v in signed]
    p = block(0, 0, *signed[:2], _FLIPS[out.dtype], bits, *zeros, *signed[2:])
    loop = forms.get("wide").wide_add
    return out.nelem, Items(loop, a.view("H"), b.view("H"), out.view("H"), p).step
