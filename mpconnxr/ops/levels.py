"""levels: floats to integers of 8 bits, by the floats at which the integer changes.

    out[i] = first + number of levels that are not above x[i]

Serves QuantizeLinear (all opsets) of float32 to int8 or uint8 by one scale that is known at
conversion: exact, whatever rounding and saturation do, without float arithmetic.

    x       float32
    levels  int32, up to 255: bits of floats without the sign, in the order of the floats: first
            the `below` negative ones (where 0 is one, as -0), the greatest bits first; or
            float32, the scale (2**-100 to 2**100), of which a step makes 255 levels
    out     int8 or uint8, as many items as x; may begin where x does
    scratch  int32, 255, for levels that a step makes
    params  below, first (as a byte), what NaN becomes (as a byte)
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ._inline import Items
from .dequantize import scale_word

_MOST = 255
_INFINITY = 0x7F800000  # bits of float32


def prepare(node):
    is_made = len(node.scratch) == 1
    node.expect(2, 1, 3, 1 if is_made else 0)
    x, levels, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x)
    node.expect_dtype("float32" if is_made else "int32", levels)
    node.require(out.dtype in ("int8", "uint8"), "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes differ")
    below, first, nan = node.extents(0, 3)
    node.require(first < 256 and nan < 256 and levels.nelem <= _MOST, "levels or a byte")
    levels = _made(node, below) if is_made else levels
    node.require(below <= levels.nelem, "levels")
    p = block(0, 0, below, levels.nelem, first, _INFINITY, 0x7FFFFFFF, nan)
    loop = forms.get("levels").levels8
    step = (_Made if is_made else Items)(loop, x.view("i"), levels.view("i"), out.view("B"), p)
    if is_made:
        step.scale, step.scale_p = node.inputs[1].view("i"), block(BIAS + 1 - below, _MOST)
        step.make = forms.get("thresholds").thresholds
    return x.nelem, step.step


def _made(node, below):
    """The scratch that levels go to. ModelError for a scale of which none can be made."""
    levels = node.scratch[0]
    node.expect_dtype("int32", levels)
    node.require(levels.nelem == _MOST, "levels")
    scale_word(node, node.inputs[1])
    return levels


class _Made(Items):
    """Makes the levels before it searches them."""

    def step(self, lo, hi):
        self.make(self.scale, self.scale, self.w, self.scale_p)
        Items.step(self, lo, hi)
