"""Dynamic quantization of numbers in fixed point: what kernels share that have loops/fixed."""

from .. import forms
from ..blocks import block


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
        self.q = block(
            "dynamic_quantize.choose",
            x_start=0,
            x_end=0,
            mask=0x7FFFFFFF,
            infinity=0x7F800000,
            out_start=0,
        )
        self.of_scale = block(
            "move",
            start=0,
            end=1,
            rows=1,
            columns=1,
            x_plane_stride=0,
            x_row_stride=0,
            x_column_stride=1,
            out_plane_stride=0,
            out_row_stride=0,
            out_column_stride=1,
            x_start=0,
            out_start=0,
        )

    def finish(self):
        """Quantizes the values, of which the loop's parameters have the ends."""
        self.ends(self.cells, self.cells, self.cells, self.p)
        self._choose(self.cells)
        self.octets(self.values, self.cells, self.y, self.p)

    def _choose(self, cells):
        self.choose(cells, self.zero, cells, self.q)
        self.copy(cells, cells, self.scale, self.of_scale)
