"""EyeLike and ConstantOfShape -> constants, or kernel move."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from ..shapes.extent import is_open, larger, smaller
from . import lowers
from ._extents import emit_measure
from ._move import emit_fill, emit_move


@lowers("EyeLike")
def lower_eye_like(node):
    """Only the shape of the input counts."""
    out, k = node.outputs[0], node.attr("k", 0)
    if not (node.is_kept or out.is_open):
        out.data = np.eye(*out.shape, k=k, dtype=out.np_dtype)
        return
    rows, columns = out.shape
    emit_fill(node, node.constant(np.zeros(1, out.np_dtype)), out)
    n = larger(smaller(rows + min(k, 0), columns - max(k, 0)), 0)
    if is_open(n) or n > 0:
        first = max(k, 0) - min(k, 0) * columns
        one = node.constant(np.ones(1, out.np_dtype))
        emit_move(node.emit, one, out, [n], [0], [columns + 1], 0, first)


@lowers("ConstantOfShape", fixes_shape=(0,), at_run_time=(0,))
def lower_constant_of_shape(node):
    """Constant folding does the small ones; a large one is filled when it runs, not stored."""
    out, value = node.outputs[0], node.attr("value")
    emit_measure(node, 0, out.shape)
    data = numpy_helper.to_array(value) if value is not None else np.zeros(1, np.float32)
    emit_fill(node, node.constant(data.astype(out.np_dtype)), out)
