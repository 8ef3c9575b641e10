"""dynamic_quantize: floats to bytes by a scale and zero point that come from their own range.

    scale = (max(x, 0) - min(x, 0)) / 255, or 1 where that is 0
    zero_point = round(-min(x, 0) / scale),    y = saturate(round(x / scale) + zero_point)

Serves DynamicQuantizeLinear (opset 11+).

    x      float32;  y  uint8, as x; may begin where x does
    scale  float32, one item;  zero_point  uint8, one item
    scratch  float32, three items
All of this is rounded as float32, scales below 1e-36 excepted. NaN counts as 0. The extent is 1.
Raises ModelError. A step allocates only a few boxed floats.
"""

from .. import forms
from ..node import block

_LEVELS = 255


def prepare(node):
    node.expect(1, 3, 0, 1)
    x, (y, scale, zero), cells = node.inputs[0], node.outputs, node.scratch[0]
    node.expect_dtype("float32", x, scale, cells)
    node.expect_dtype("uint8", y, zero)
    node.require(x.nelem == y.nelem and cells.nelem == 3, "sizes differ")
    node.require(scale.nelem == zero.nelem == 1, "one scale and zero point")
    step = _Quantize(x.view("i"), y.view("B"), cells.view("i"))
    step.bind(cells.data, scale.data, zero.data)
    step.p = block(0, x.nelem, 0x7FFFFFFF, 0x7F800000, 0)
    return 1, step.step


class _Quantize:
    """cells: the same memory as words and as floats."""

    def __init__(self, x, y, words):
        self.x, self.y, self.words = x, y, words
        self.loops = forms.get("loops_dynamic_quantize")

    def bind(self, cells, scale, zero):
        self.cells, self.scale, self.zero = cells, scale, zero

    def step(self, lo, hi):
        self.loops.ends(self.x, self.x, self.words, self.p)
        self._choose(self.cells)
        self.loops.to_bytes(self.x, self.words, self.y, self.p)

    def _choose(self, cells):
        """Each result goes through a cell, which rounds it to float32."""
        cells[2] = cells[0] + cells[1]
        cells[2] = cells[2] / _LEVELS
        if cells[2] == 0.0:
            cells[2] = 1.0
        self.scale[0] = cells[2]
        cells[0] = cells[1] / cells[2]
        zero = round(cells[0]) if cells[0] <= _LEVELS else _LEVELS  # NaN of infinities: any
        self.zero[0] = self.p[4] = min(zero, _LEVELS)
        cells[0] = cells[2]
        cells[2] = 1.0 / cells[2]
