"""dynamic_quantize: floats to bytes by a scale and zero point from their own range.

    scale = (max(x, 0) - min(x, 0)) / 255, or 1 where that is 0
    zero_point = round(-min(x, 0) / scale),    y = saturate(round(x / scale) + zero_point)

Serves DynamicQuantizeLinear (opset 11+).

    x      float32;  y  uint8, as x; may begin where x does
    scale  float32, one element;  zero_point  uint8, one element
    scratch  float32, three elements: the working memory of loops/dynamic_quantize
Every operation rounds as float32. A scale below the smallest normal float is 1. NaN counts as 0.
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params: none

CALLS = True


def prepare(node, calls):
    node.expect(1, 3, 0, 1)
    x, (y, scale, zero), cells = node.inputs[0], node.outputs, node.scratch[0]
    node.over(y, x)
    node.expect_dtype("float32", x, scale, cells)
    node.expect_dtype("uint8", y, zero)
    node.require(x.nelem == y.nelem and cells.nelem == 3, "sizes differ")
    node.require(scale.nelem == zero.nelem == 1, "one scale and zero point")
    n, loops = x.nelem, forms.get("dynamic_quantize")
    x, cells, scale = [calls.place(t, "i") for t in (x, cells, scale)]
    y, zero = calls.place(y), calls.place(zero)
    calls.call(loops.ends, x, None, cells, _range(n))
    calls.call(loops.choose, cells, zero, cells, _range(n))
    p = block(
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
    calls.call(forms.get("move").copy32, cells, None, scale, p)
    calls.call(loops.to_bytes, x, cells, y, _range(n))


def _range(n):
    """Return a block of any of the three loops."""
    return block(
        "dynamic_quantize.to_bytes",
        x_start=0,
        x_end=n,
        mask=0x7FFFFFFF,
        infinity=0x7F800000,
        out_start=0,
    )
