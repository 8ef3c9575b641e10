"""mpconnxr:Scale, which a rewrite of dynamically quantized models makes -> kernel scales."""

from __future__ import annotations

from ..errors import Problem
from . import lowers

OWN = "mpconnxr"
FLOAT = 1


def _infer(node):
    return [(FLOAT, max((t.shape for t in node.inputs), key=len))]


@lowers("Scale", domain=OWN, infer=_infer)
def lower_scale(node):
    """x * w: x has one item."""
    x, w = node.inputs
    if (x.dtype, w.dtype) != (FLOAT, FLOAT) or x.nelem != 1 or len(x.shape) > len(w.shape):
        raise Problem(f"{x} by {w}")
    node.emit("scales", [x, w], node.outputs)
