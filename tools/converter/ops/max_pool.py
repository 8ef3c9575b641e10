"""MaxPool -> kernel max_pool."""

from __future__ import annotations

import math

from ..steps.rows import Rows
from . import lowers
from ._windows import window_behind, windows_of

FLOAT, UINT8, INT8 = 1, 2, 3
_ROWS = Rows(n_in=2, n_out=8, stride=11, taps=5, dilation=14, pad=20, single=(1, 4, 7))


@lowers("MaxPool")
def lower_max_pool(node):
    node.require_dtype(FLOAT, UINT8, INT8)
    x, outputs = node.inputs[0], [out for out in node.outputs if out is not None]
    w = windows_of(node, node.attr("kernel_shape"), outputs[0].shape)
    d, h, width = w.in_dims
    index = [h * width, width, 1]
    if node.attr("storage_order", 0):  # the first spatial dim varies fastest
        index = [1, d, d * h]
    groups = (w.in_dims, w.kernel, w.out_dims, w.strides, w.dilations, index, w.pads)
    params = [math.prod(x.shape[:2])] + [v for group in groups for v in group]
    behind = window_behind(params[0], w, x) if len(outputs) == 1 else {}
    node.emit(
        "max_pool", [x], outputs, params, behind=behind, rows=_ROWS if len(outputs) == 1 else None
    )
