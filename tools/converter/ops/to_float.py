"""mpconnxr:ToFloat, which rewrites of dynamically quantized models make -> kernel to_float."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..steps.overlap import item_by_item
from . import lowers
from ._move import emit_move

OWN = "mpconnxr"
FLOAT, INT32 = 1, 6


def _infer(node):
    return [(FLOAT, node.inputs[0].shape)]


@lowers("ToFloat", domain=OWN, infer=_infer)
def lower_to_float(node):
    """x * scale + offset: both with one item, or one for each index of an axis of x."""
    x, scale, offset = node.inputs
    if (x.dtype, scale.dtype, offset.dtype) != (INT32, FLOAT, FLOAT):
        raise Problem(f"{x} by {scale} and {offset}")
    axis = node.attr("axis", 1) % max(len(x.shape), 1)
    channels = max(scale.nelem, offset.nelem)
    if any(t.nelem not in (1, channels) for t in (scale, offset)):
        raise Problem(f"{scale} and {offset} are not as many")
    if channels not in (1, x.shape[axis] if x.shape else 1):
        raise Problem(f"{scale} or {offset} does not fit {x}")
    inner = int(np.prod(x.shape[axis + 1 :])) if channels > 1 else 1
    constants = _constants(node, scale, offset, channels)
    over = item_by_item(node.outputs[0], [x])
    node.emit("to_float", [x, constants], node.outputs, over=over, channels=channels, inner=inner)


def _constants(node, scale: Tensor, offset: Tensor, channels: int) -> Tensor:
    """Both in one tensor, repeated where there is one for all."""
    parts = [scale, offset]
    if all(t.data is not None for t in parts):
        rows = [np.broadcast_to(t.data.reshape(-1), channels) for t in parts]
        return node.constant(np.stack(rows).astype(np.float32))
    out = node.temp(FLOAT, (2, channels))
    for row, t in enumerate(parts):
        strides = [int(t.nelem > 1)]
        emit_move(node.emit, t, out, [channels], strides, [1], out_first=row * channels)
    return out
