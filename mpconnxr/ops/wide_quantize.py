"""wide_quantize: floats to 16-bit integers by one scale, without float arithmetic.

    out[i] = limited(round(x[i] / scale) + zero)      the quotient as float32, then to even

Serves QuantizeLinear (all opsets) to int16 and uint16 by a scale that is known at conversion:
exact.

    x    float32;  scale  float32, one item, 2**-100 to 2**100;  out  int16 or uint16, as x; may
         begin where x does
    params zero (signed)
NaN becomes the zero point. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of
from ._inline import Items
from .dequantize import scale_word


def prepare(node):
    node.expect(2, 1, 1)
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x)
    node.require(out.dtype in ("int16", "uint16"), "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes differ")
    low, high = range_of(out.dtype)
    [zero] = node.signed(0, 1)
    node.require(low <= zero <= high, "zero point")
    p = block(0, 0, 0, 0x7FFFFFFF, 0x7F800000, BIAS + zero, BIAS + low, BIAS + high)
    loop = forms.get("wide").wide_quantize
    return x.nelem, Items(loop, x.view("i"), scale_word(node, scale), out.view("H"), p).step
