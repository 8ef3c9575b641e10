"""EyeLike and ConstantOfShape -> constants."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from . import lowers
from ._extents import emit_measure
from ._move import emit_fill


@lowers("EyeLike")
def lower_eye_like(node):
    """Only the shape of the input counts."""
    out = node.outputs[0]
    out.data = np.eye(*out.shape, k=node.attr("k", 0), dtype=out.np_dtype)


@lowers("ConstantOfShape", fixes_shape=(0,), at_run_time=True)
def lower_constant_of_shape(node):
    """Constant folding does the small ones; a large one is filled when it runs, not stored."""
    out, value = node.outputs[0], node.attr("value")
    emit_measure(node, node.inputs[0], out.shape)
    data = numpy_helper.to_array(value) if value is not None else np.zeros(1, np.float32)
    emit_fill(node, node.constant(data.astype(out.np_dtype)), out)
