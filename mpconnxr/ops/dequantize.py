"""dequantize: bytes to floats by one scale, without float arithmetic.

    out[i] = (x[i] - zero) * scale

Serves DequantizeLinear (all opsets) of int8 and uint8 by a scale that is known at conversion:
exact.

    x      int8 or uint8;  scale  float32, one item, 2**-100 to 2**100;  out  float32, as x
    params zero
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import block
from ..tensor import range_of
from .inline import Items

_LEAST_SCALE, _GREATEST_SCALE = 27 << 23, 228 << 23


def prepare(node):
    node.expect(2, 1, 1)
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.require(x.dtype in ("int8", "uint8"), "dtype " + x.dtype)
    node.expect_dtype("float32", scale, out)
    node.require(x.nelem == out.nelem and scale.nelem == 1, "sizes differ")
    low, high = range_of(x.dtype)
    [zero] = node.signed(0, 1)
    node.require(low <= zero <= high, "zero point")
    s = scale.view("i")
    node.require(_LEAST_SCALE <= s[0] <= _GREATEST_SCALE, "scale")
    loop = forms.get("loops_dequantize").dequantize8
    p = block(0, 0, zero - low, -low)
    return x.nelem, Items(loop, x.view("B"), s, out.view("i"), p).step
