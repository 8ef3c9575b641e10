"""MaxPool -> kernel max_pool."""

from __future__ import annotations

import math

from ..steps.rows import Rows
from . import lowers
from ._windows import window_behind, windows_of

FLOAT, UINT8, INT8 = 1, 2, 3
_ROWS = Rows(single=("d", "kd", "od"))


@lowers("MaxPool")
def lower_max_pool(node):
    node.require_dtype(FLOAT, UINT8, INT8)
    x, outputs = node.inputs[0], [out for out in node.outputs if out is not None]
    w = windows_of(node, node.attr("kernel_shape"), outputs[0].shape)
    d, h, width = w.in_dims
    index = [h * width, width, 1]
    if node.attr("storage_order", 0):  # the first spatial dim varies fastest
        index = [1, d, d * h]
    params = {"planes": math.prod(x.shape[:2]), **w.named, "index_strides": index}
    about = {}
    if len(outputs) == 1:
        about = {"behind": window_behind(params["planes"], w, x), "rows": _ROWS}
    node.emit("max_pool", [x], outputs, **about, **params)
