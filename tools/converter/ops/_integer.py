"""Casts and integer arithmetic that the lowerings of integer products share."""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from ..steps.overlap import element_leads
from ._dtypes import INT32
from ._elementwise import binary


def as_dtype(node, t: Tensor, dtype: int) -> Tensor:
    """Return t cast to a dtype, at conversion if it is known."""
    if t.dtype == dtype:
        return t
    out = node.temp(dtype, t.shape)
    if t.data is not None:
        return node.constant(t.data.astype(out.np_dtype).reshape(t.shape))
    node.emit("cast", [t], [out], over=element_leads(out, [t]))
    return out


def combined(node, op: str, a: Tensor, b: Tensor) -> Tensor:
    """Return op(a, b) for add, sub or mul: a constant if a and b are known, else a new tensor."""
    if a.data is not None and b.data is not None:
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op]
        return node.constant(function(a.data, b.data))
    return binary(node, op, a, b)


def centred(node, x: Tensor, zero: Tensor | None, shape=None) -> Tensor:
    """Return x - zero in int32.

    Args:
        node: the node to lower.
        x: integers.
        zero: zero point, or None for 0.
        shape: shape of the zero point that broadcasts to x; None for its own.
    """
    wide = as_dtype(node, x, INT32)
    if zero is None or (zero.data is not None and not zero.data.any()):
        return wide
    zero = node.reshaped(as_dtype(node, zero, INT32), zero.shape if shape is None else shape)
    return combined(node, "sub", wide, zero)
