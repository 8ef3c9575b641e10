"""dynamic_quantize: floats to bytes by a scale and zero point that come from their own range.

    scale = (max(x, 0) - min(x, 0)) / 255, or 1 where that is 0
    zero_point = round(-min(x, 0) / scale),    y = saturate(round(x / scale) + zero_point)

Serves DynamicQuantizeLinear (opset 11+).

    x      float32;  y  uint8, as x; may begin where x does
    scale  float32, one item;  zero_point  uint8, one item
    scratch  float32, three items: what loops/dynamic_quantize works in
All of this is rounded as float32; a scale too small for a normal one is 1. NaN counts as 0. The
extent is 1. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

# params: none


def prepare(node):
    node.expect(1, 3, 0, 1)
    x, (y, scale, zero), cells = node.inputs[0], node.outputs, node.scratch[0]
    node.over(y, x)
    node.expect_dtype("float32", x, scale, cells)
    node.expect_dtype("uint8", y, zero)
    node.require(x.nelem == y.nelem and cells.nelem == 3, "sizes differ")
    node.require(scale.nelem == zero.nelem == 1, "one scale and zero point")
    step = _Quantize(x.view("i"), y.view("B"), cells.view("i"))
    step.scale, step.zero = scale.view("i"), zero.data
    step.p = block(0, x.nelem, 0x7FFFFFFF, 0x7F800000, 0)
    step.of_scale = block(0, 1, 1, 1, BIAS, BIAS, BIAS + 1, BIAS, BIAS, BIAS + 1, BIAS, BIAS)
    return 1, step.step


class _Quantize:
    def __init__(self, x, y, cells):
        self.x, self.y, self.cells = x, y, cells
        self.loops = forms.get("dynamic_quantize")
        self.copy = forms.get("move").copy32

    def step(self, lo, hi):
        self.loops.ends(self.x, self.x, self.cells, self.p)
        self._choose(self.cells)
        self.loops.to_bytes(self.x, self.cells, self.y, self.p)

    def _choose(self, cells):
        self.loops.choose(cells, self.zero, cells, self.p)
        self.copy(cells, cells, self.scale, self.of_scale)
