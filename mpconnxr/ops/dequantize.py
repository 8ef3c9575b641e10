"""dequantize: integers of 8 or 16 bits to floats by one scale, without float arithmetic.

    out[i] = (x[i] - zero) * scale

Serves DequantizeLinear (all opsets) by a scale that is known at conversion, and Cast of bool:
exact.

    x      bool, int8, uint8, int16 or uint16;  scale  float32, one item, 2**-100 to 2**100
    out    float32, as x
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block
from ..tensor import range_of
from ._inline import Items

# params
_ZERO = const(0)  # signed
_N_PARAMS = const(1)

_LEAST_SCALE, _GREATEST_SCALE = 27 << 23, 228 << 23  # bits of 2**-100 and, nearly, 2**101


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.require(x.dtype in ("bool", "int8", "uint8", "int16", "uint16"), "dtype " + x.dtype)
    node.expect_dtype("float32", out)
    node.require(x.nelem == out.nelem, "sizes differ")
    low, high = range_of(x.dtype)
    [zero] = node.signed(_ZERO, 1)
    node.require(low <= zero <= high, "zero point")
    code = "B" if high < 256 else "H"
    p = block(0, 0, zero - low, -low)
    s = scale_word(node, scale)
    return x.nelem, Items(_loop(code), x.view(code), s, out.view("i"), p).step


def _loop(code):
    if code == "B":
        return forms.get("dequantize").dequantize8
    return forms.get("wide").wide_dequantize


def scale_word(node, scale):
    """The scale as a word. ModelError for one that the loops do not take."""
    node.expect_dtype("float32", scale)
    node.require(scale.nelem == 1, "one scale")
    word = scale.view("i")
    node.require(_LEAST_SCALE <= word[0] <= _GREATEST_SCALE, "scale")
    return word
