"""Narrow floats (float16, bfloat16): computed in float32, and kept so between operators.

A value is rounded where it leaves: to an output, or to an operator that takes the narrow float as
it is (Reshape, Transpose, ...), but for the Where that masks what was computed. That is closer to
the exact result than rounding after every operator, and what onnxruntime does on processors
without narrow arithmetic.
"""

from __future__ import annotations

import numpy as np

from ..ir import Tensor

_NARROW = (10, 16)  # ONNX numbers of float16 and bfloat16
_FLOAT = 1


def is_narrow(node) -> bool:
    """True if a narrow float goes into the node or comes out of it."""
    return any(t is not None and t.dtype in _NARROW for t in node.inputs + node.outputs)


def stays_wide(node, wide: dict[Tensor, Tensor]) -> bool:
    """True for a Where of values that are at hand in float32."""
    return node.op == "Where" and any(t in wide for t in node.inputs)


def lower_wide(node, lowering, wide: dict[Tensor, Tensor]) -> None:
    """Lowers the node with float32 in the place of every narrow float.

    wide: the float32 value behind each narrow one that came from here before; added to.
    """
    narrow_outputs = list(node.outputs)
    node.inputs = [_widened(node, t, wide) for t in node.inputs]
    node.outputs = [_wide_like(node, t) for t in node.outputs]
    lowering.lower(node)
    for value, narrow in zip(node.outputs, narrow_outputs, strict=True):
        if value is not narrow:
            node.emit("cast", [value], [narrow])  # dropped again where nobody reads it
            wide[narrow] = value


def _widened(node, t: Tensor | None, wide: dict[Tensor, Tensor]) -> Tensor | None:
    if t is None or t.dtype not in _NARROW:
        return t
    if t not in wide:
        if t.data is not None:
            wide[t] = node.constant(t.data.astype(np.float32))
        else:
            wide[t] = node.temp(_FLOAT, t.shape)
            node.emit("cast", [t], [wide[t]])
    return wide[t]


def _wide_like(node, t: Tensor | None) -> Tensor | None:
    return node.temp(_FLOAT, t.shape) if t is not None and t.dtype in _NARROW else t
