"""Dynamic quantization of fixed-point numbers, shared by the kernels that use loops/fixed."""

from .. import forms
from ..blocks import block


def expect_levels(node, values, cells):
    """Check the outputs of emit_levels: y, scale and zero point.

    values is int32 with as many elements as y, cells float32 of three elements.
    """
    y, scale, zero = node.outputs
    node.expect_dtype("uint8", y, zero)
    node.expect_dtype("float32", scale, cells)
    node.expect_dtype("int32", values)
    node.require(scale.nelem == zero.nelem == 1 and cells.nelem == 3, "sizes of the range")
    node.require(values.nelem == y.nelem, "sizes differ")


def emit_levels(calls, outputs, values, cells, ends, p):
    """Emit calls that quantize values by their own range, as DynamicQuantizeLinear does.

    Args:
        calls: the mpconnxr.build.calls.Calls.
        outputs: Tensors y, scale, zero point.
        values: int32 Tensor.
        cells: float32 Tensor of three elements.
        ends: parts of the preceding call's block that hold the parameters of ends.
        p: block of octets; None: the block of the preceding call.
    """
    y, scale, zero = outputs
    values, of_cells = calls.place(values), calls.place(cells, "i")
    loops, choose = forms.get("fixed"), forms.get("dynamic_quantize").choose
    calls.call(loops.ends, calls.hold(ends), of_cells, of_cells, None)
    calls.call(choose, of_cells, calls.place(zero), of_cells, p)
    calls.call(loops.octets, values, of_cells, calls.place(y), None)
    emit_copy(calls, of_cells, calls.place(scale, "i"), 1, 0)


def emit_copy(calls, x, out, n, out_start):
    """Emit a call that copies the first n words of x to out, from out_start on [words]."""
    p = block(
        "move",
        start=0,
        end=1,
        rows=1,
        columns=n,
        x_plane_stride=0,
        x_row_stride=0,
        x_column_stride=1,
        out_plane_stride=0,
        out_row_stride=0,
        out_column_stride=1,
        x_start=0,
        out_start=out_start,
    )
    calls.call(forms.get("move").copy32, x, None, out, p)
