"""GridSample -> kernel grid_sample."""

from __future__ import annotations

import math

from ..errors import Problem
from . import lowers

_MODES = {"nearest": 0, "linear": 1, "bilinear": 1, "cubic": 2, "bicubic": 2}
_PADDING = {"zeros": 0, "border": 1, "reflection": 2}


@lowers("GridSample")
def lower_grid_sample(node):
    """Opset 16 calls the modes bilinear and bicubic."""
    node.require_dtype(1, 11)
    x, grid, out = node.inputs[0], node.inputs[1], node.outputs[0]
    rank = len(x.shape) - 2
    mode = node.attr("mode", "linear")
    padding = node.attr("padding_mode", "zeros")
    if rank not in (2, 3):
        raise Problem(f"{rank} spatial dimensions", "2 and 3 are supported")
    if mode not in _MODES or padding not in _PADDING:
        raise Problem(f"mode {mode}, padding_mode {padding}")
    sizes = [*x.shape[:2], *[1] * (3 - rank), *x.shape[2:]]
    node.emit(
        "grid_sample",
        [x, grid],
        [out],
        **dict(zip(("n", "c", "d", "h", "w"), sizes, strict=True)),
        places=math.prod(out.shape[2:]),
        dims=rank,
        mode=_MODES[mode],
        padding=_PADDING[padding],
        align_corners=int(bool(node.attr("align_corners", 0))),
    )
