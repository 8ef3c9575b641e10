"""Gather -> kernel move or gather."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..shapes.extent import any_open
from . import lowers
from ._select import emit_gather, emit_select


@lowers("Gather")
def lower_gather(node):
    """Indices known at conversion select by strided copies if they are regular."""
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    axis = node.attr("axis", 0) % len(x.shape)
    if index.data is None or any_open(x.shape):
        emit_gather(node, x, index, out, axis)
        return
    flat = index.data.reshape(-1).astype(np.int64)
    d = x.shape[axis]
    if flat.size and not (-d <= flat.min() and flat.max() < d):
        raise Problem(f"an index is outside -{d} .. {d - 1}")
    maps = [np.arange(d) for d in x.shape]
    maps[axis] = flat % max(d, 1)
    shape = (*x.shape[:axis], flat.size, *x.shape[axis + 1 :])
    selected = node.temp(x.dtype, shape)
    node.alias(selected, out)
    emit_select(node, x, selected, maps)
