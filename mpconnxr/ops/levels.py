"""levels: floats to integers of 8 bits, by the floats at which the integer changes.

    out[i] = first + number of levels that are not above x[i]

Serves QuantizeLinear (all opsets) of float32 to int8 or uint8 by one scale that is known at
conversion: exact, whatever rounding and saturation do, without float arithmetic.

    x       float32
    levels  int32, up to 255: bits of floats without the sign, in the order of the floats: first
            the `below` negative ones (where 0 is one, as -0), the greatest bits first
    out     int8 or uint8, as many items as x; may begin where x does
    params  below, first (as a byte), what NaN becomes (as a byte)
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import block
from .inline import Items

_MOST = 255
_INFINITY = 0x7F800000  # bits of float32


def prepare(node):
    node.expect(2, 1, 3)
    x, levels, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x)
    node.expect_dtype("int32", levels)
    node.require(out.dtype in ("int8", "uint8"), "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes differ")
    below, first, nan = node.extents(0, 3)
    node.require(levels.nelem <= _MOST and below <= levels.nelem, "levels")
    node.require(first < 256 and nan < 256, "a byte")
    p = block(0, 0, below, levels.nelem, first, _INFINITY, 0x7FFFFFFF, nan)
    loop = forms.get("loops_levels").levels8
    return x.nelem, Items(loop, x.view("i"), levels.view("i"), out.view("B"), p).step
