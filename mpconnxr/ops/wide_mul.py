"""wide_mul: products of two tensors of 16-bit integers, each with a scale.

    out = limited(round(a * b * scale) + zero),     scale = M * 2**(f - 37), M below 2**24

Serves mpconnxr:WideMul. The zero points of a and b are 0 (uint16: 32768).

    a, b, out  int16 or uint16, all of the same dtype and as many items; out may be one of them
    params  f (to 30 a shift to the left, from 32 on one by f - 32 to the right), what is added
            before one to the right, upper and lower 12 bits of M; signed: zero, least and greatest
            of out
Rounded to even, with 13 bits behind the point. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of
from ._inline import Items

_FLIPS = {"int16": 32768, "uint16": 0}


def prepare(node):
    node.expect(2, 1, 7)
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, a)
    node.over(out, b)
    node.require(out.dtype in _FLIPS, "dtype " + out.dtype)
    node.expect_dtype(out.dtype, a, b)
    node.require(a.nelem == b.nelem == out.nelem, "sizes differ")
    f, half, upper, lower = node.extents(0, 4)
    zero, least, most = node.signed(4, 3)
    low, high = range_of(out.dtype)
    node.require(f < 64 and max(upper, lower) < 4096, "scale")
    node.require(low <= least <= most <= high and abs(zero) < 65536, "limits")
    limits = [zero + BIAS, least + BIAS, most + BIAS]
    p = block(*[0, 0, f] + limits + [half, _FLIPS[out.dtype], upper, lower])
    loop = forms.get("wide").wide_mul
    return out.nelem, Items(loop, a.view("H"), b.view("H"), out.view("H"), p).step
