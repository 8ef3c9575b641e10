"""Narrow floats (float16, bfloat16): computed in float32, rounded after each operator.

For +, -, *, / and sqrt that gives the bits of native arithmetic; for longer sums it is closer to
the exact result, as in other runtimes.
"""

from __future__ import annotations

import numpy as np

from .ir import Tensor

_NARROW = (10, 16)  # ONNX numbers of float16 and bfloat16
_FLOAT = 1


def is_narrow(node) -> bool:
    """True if a narrow float goes into the node or comes out of it."""
    return any(t is not None and t.dtype in _NARROW for t in node.inputs + node.outputs)


def lower_wide(node, lowering) -> None:
    """Lowers the node with float32 in the place of every narrow float, between casts."""
    narrow_outputs = list(node.outputs)
    node.inputs = [_widened(node, t) for t in node.inputs]
    node.outputs = [_wide_like(node, t) for t in node.outputs]
    lowering.lower(node)
    for wide, narrow in zip(node.outputs, narrow_outputs, strict=True):
        if wide is not narrow:
            node.emit("cast", [wide], [narrow], [])


def _widened(node, t: Tensor | None) -> Tensor | None:
    if t is None or t.dtype not in _NARROW:
        return t
    if t.data is not None:
        return node.constant(t.data.astype(np.float32))
    wide = node.temp(_FLOAT, t.shape)
    node.emit("cast", [t], [wide], [])
    return wide


def _wide_like(node, t: Tensor | None) -> Tensor | None:
    return node.temp(_FLOAT, t.shape) if t is not None and t.dtype in _NARROW else t
