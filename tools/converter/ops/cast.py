"""Lower Cast and CastLike to kernel cast."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..steps.overlap import element_leads
from . import lowers
from ._dtypes import BOOL, FLOAT

_FLOAT8 = (17, 18, 19, 20, 24)
_ROUND_MODES = ("up", "down", "nearest")  # of float8e8m0, in the device's order


@lowers("Cast", "CastLike")
def lower_cast(node):
    """Lower casts. Attribute saturate exists since opset 19, round_mode since opset 24."""
    mode = node.attr("round_mode", "up")
    if mode not in _ROUND_MODES:
        raise Problem(f"round_mode {mode}")
    emit_cast(node, node.inputs[0], node.outputs[0], node.attr("saturate", 1), mode)


def emit_cast(node, x: Tensor, out: Tensor, saturate: int = 1, round_mode: str = "up") -> None:
    """Emit out = x in the dtype of out.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        saturate: for float8: limit values that are too large, instead of making them infinite.
        round_mode: for float8: how values are rounded.
    """
    if x.dtype == out.dtype:
        node.alias(out, x)
        return
    if (x.dtype, out.dtype) == (BOOL, FLOAT) and node.is_exact:
        one = node.constant(np.ones(1, np.float32))
        node.emit("dequantize", [x, one], [out], over=element_leads(out, [x]), zero=0)
        return
    params = {}
    if out.dtype in _FLOAT8:
        params = {"saturate": bool(saturate), "round_mode": _ROUND_MODES.index(round_mode)}
    node.emit("cast", [x], [out], over=element_leads(out, [x]), **params)
