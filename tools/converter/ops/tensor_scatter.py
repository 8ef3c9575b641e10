"""TensorScatter -> kernels binary and scatter."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from . import lowers
from ._elementwise import emit_binary
from ._move import emit_copy
from .cast import emit_cast

INT32, INT64 = 6, 7


@lowers("TensorScatter")
def lower_tensor_scatter(node):
    """Rows of update go into a copy of the cache, from each batch's write index on."""
    past, update, at = node.inputs[0], node.inputs[1], node.input(2)
    out = node.outputs[0]
    axis = node.attr("axis", -2) % len(past.shape)
    n, k = past.shape[axis], update.shape[axis]
    mode = node.attr("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise Problem(f"axis {axis}, mode {mode}")
    outer, inner = math.prod(past.shape[:axis]), math.prod(past.shape[axis + 1 :])
    batch = past.shape[0]
    lines = outer // max(batch, 1)
    start = at if at is not None else node.constant(np.zeros(batch, np.int64))
    steps = node.temp(INT64, (batch, 1, k))
    emit_binary(
        node, "add", node.reshaped(start, (batch, 1, 1)), node.constant(np.arange(k)), steps
    )
    if mode == "circular":
        wrapped = node.temp(INT64, steps.shape)
        emit_binary(node, "mod", steps, node.constant(np.int64(n)), wrapped)
        steps = wrapped
    rows, index = node.temp(INT64, (batch, lines, k)), node.temp(INT32, (outer * k,))
    first = np.arange(outer).reshape(batch, lines, 1) * n
    emit_binary(node, "add", steps, node.constant(first), rows)
    emit_cast(node, rows, index)
    emit_copy(node.emit, past, out)
    node.emit("scatter", [update, index], [out], op=0, n=outer * n, inner=inner)
