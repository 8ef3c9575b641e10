"""dequantize: 8- or 16-bit integers to floats by one scale, without float arithmetic.

    out[i] = (x[i] - zero) * scale

Serves DequantizeLinear (all opsets) with a constant scale, and Cast of bool. The result is exact.

    x      bool, int8, uint8, int16 or uint16
    scale  float32, one element, 2**-100 to 2**100
    out    float32, as x
Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..tensor import range_of

# params
_ZERO = const(0)  # signed
_N_PARAMS = const(1)

CALLS = True

_LEAST_SCALE, _GREATEST_SCALE = 27 << 23, 228 << 23  # bits of 2**-100 and, nearly, 2**101


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.require(x.dtype in ("bool", "int8", "uint8", "int16", "uint16"), "dtype " + x.dtype)
    node.expect_dtype("float32", out)
    node.require(x.nelem == out.nelem, "sizes differ")
    low, high = range_of(x.dtype)
    [zero] = node.signed(_ZERO, 1)
    node.require(low <= zero <= high, "zero point")
    scale_word(node, scale)
    if high < 256:
        loop, code = forms.get("dequantize").dequantize8, "B"
    else:
        loop, code = forms.get("wide").wide_dequantize, "H"
    n, x = x.nelem, calls.place(x, code)
    scale, out = calls.place(scale, "i"), calls.place(out, "i")
    for start, end in calls.parts(n):
        # the block of wide_dequantize, too, whose flip is 32768
        p = block("dequantize", start=start, end=end, zero_point=zero - low, flip=-low)
        calls.call(loop, x, scale, out, p)


def scale_word(node, scale):
    """Return the scale's bits; raise ModelError if the loops do not support it."""
    node.expect_dtype("float32", scale)
    node.require(scale.nelem == 1, "one scale")
    word = scale.view("i")
    node.require(_LEAST_SCALE <= word[0] <= _GREATEST_SCALE, "scale")
    return word
