"""wide_quantize: floats to 16-bit integers by one scale, without float arithmetic.

    out[i] = saturate(round(x[i] / scale) + zero)      quotient rounded as float32, then half to
        even

Serves QuantizeLinear (all opsets) to int16 and uint16 with a constant scale. The result is exact.

    x    float32;  scale  float32, one element, 2**-100 to 2**100
    out  int16 or uint16, as x; may begin where x does
NaN becomes the zero point. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..tensor import range_of
from .dequantize import scale_word

# params
_ZERO = const(0)  # signed
_N_PARAMS = const(1)

CALLS = True


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x)
    node.require(out.dtype in ("int16", "uint16"), "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes differ")
    low, high = range_of(out.dtype)
    [zero] = node.signed(_ZERO, 1)
    node.require(low <= zero <= high, "zero point")
    scale_word(node, scale)
    n, loop = x.nelem, forms.get("wide").wide_quantize
    x, w, out = calls.place(x, "i"), calls.place(scale, "i"), calls.place(out, "H")
    for start, end in calls.parts(n):
        p = block(
            "wide.wide_quantize",
            start=start,
            end=end,
            quantize_scale_start=0,
            quantize_magnitude_mask=0x7FFFFFFF,
            quantize_infinity=0x7F800000,
            quantize_out_zero_point=zero,
            quantize_low=low,
            quantize_high=high,
        )
        calls.call(loop, x, w, out, p)
