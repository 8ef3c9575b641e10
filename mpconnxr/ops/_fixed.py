"""Dynamic quantization of numbers in fixed point: what kernels share that have loops/fixed."""

from .. import forms
from ..parameters import BIAS, block


class Levels:
    """Bytes by their own range, as DynamicQuantizeLinear gives them: y, scale, zero point.

    values: int32, one item for each of y; cells: float32, three items; ends: four words of a
    loop's parameters, see loops/fixed.
    """

    def __init__(self, node, values, cells, ends):
        y, scale, zero = node.outputs
        node.expect_dtype("uint8", y, zero)
        node.expect_dtype("float32", scale, cells)
        node.expect_dtype("int32", values)
        node.require(scale.nelem == zero.nelem == 1 and cells.nelem == 3, "sizes of the range")
        node.require(values.nelem == y.nelem, "sizes differ")
        loops = forms.get("fixed")
        self.ends, self.octets = loops.ends, loops.octets
        self.choose, self.copy = forms.get("dynamic_quantize").choose, forms.get("move").copy32
        self.values, self.y, self.cells = values.view("i"), y.view("B"), cells.view("i")
        self.scale, self.zero, self.p = scale.view("i"), zero.data, ends
        self.q = block(0, 0, 0x7FFFFFFF, 0x7F800000, 0)
        self.of_scale = block(0, 1, 1, 1, BIAS, BIAS, BIAS + 1, BIAS, BIAS, BIAS + 1, BIAS, BIAS)

    def finish(self):
        """Quantizes the values, of which the loop's parameters have the ends."""
        self.ends(self.cells, self.cells, self.cells, self.p)
        self._choose(self.cells)
        self.octets(self.values, self.cells, self.y, self.p)

    def _choose(self, cells):
        self.choose(cells, self.zero, cells, self.q)
        self.copy(cells, cells, self.scale, self.of_scale)
