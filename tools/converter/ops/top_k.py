"""TopK -> kernel top_k."""

from __future__ import annotations

from . import lowers
from ._axes import lines_of, named_lines
from ._extents import emit_measure

_NUMBERS = (1, 11, 2, 3, 4, 5, 6, 7, 12, 13)


@lowers("TopK", fixes_shape=(1,), at_run_time=(1,))
def lower_top_k(node):
    """k: an attribute before opset 10; largest and sorted came with opset 11. Always sorted."""
    node.require_dtype(*_NUMBERS)
    x, (values, indices) = node.inputs[0], (*node.outputs, None)[:2]
    axis = node.attr("axis", -1)
    lines = lines_of(x.shape, axis)
    values = values or node.temp(x.dtype, indices.shape)
    indices = indices or node.temp(7, values.shape)
    k = values.shape[axis]
    if node.input(1) is not None:
        emit_measure(node, 1, [k])
    smallest = int(not node.attr("largest", 1))
    node.emit("top_k", [x], [values, indices], smallest=smallest, k=k, **named_lines(lines))
