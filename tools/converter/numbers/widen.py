"""Compute narrow floats (float16, bfloat16) in float32, and keep them so between operators.

A value is rounded only where it becomes an output, or where an operator takes the narrow float as
it is (Reshape, Transpose, ...), but not at a Where that masks computed values. That is closer to
the exact result than rounding after every operator, and onnxruntime does the same on processors
without narrow arithmetic.
"""

from __future__ import annotations

import numpy as np

from ..ir import Tensor

_NARROW = (10, 16)  # ONNX numbers of float16 and bfloat16
_FLOAT = 1


def is_narrow(node) -> bool:
    """Return True if a narrow float is an input or output of the node."""
    return any(t is not None and t.dtype in _NARROW for t in node.inputs + node.outputs)


def stays_wide(node, wide: dict[Tensor, Tensor]) -> bool:
    """Return True for a Where of values that are known in float32."""
    return node.op == "Where" and any(t in wide for t in node.inputs)


def lower_wide(node, lowering, wide: dict[Tensor, Tensor]) -> None:
    """Lower a node with float32 in place of every narrow float.

    Args:
        node: the node to lower.
        lowering: the lowering of its operator.
        wide: float32 value of each narrow one that was computed here; extended in place.
    """
    narrow_outputs = list(node.outputs)
    node.inputs = [_widened(node, t, wide) for t in node.inputs]
    node.outputs = [_wide_like(node, t) for t in node.outputs]
    lowering.lower(node)
    for value, narrow in zip(node.outputs, narrow_outputs, strict=True):
        if value is not narrow:
            node.emit("cast", [value], [narrow])  # dropped later if nothing reads it
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
