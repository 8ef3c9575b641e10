"""AveragePool and LpPool -> kernel average_pool; means of float32 -> block_conv."""

from __future__ import annotations

import math

from . import lowers
from ._means import emit_window_means
from ._windows import window_behind, windows_of

FLOAT, DOUBLE = 1, 11


@lowers("AveragePool", "LpPool")
def lower_average_pool(node):
    """count_include_pad counts the padding asked for, not what ceil_mode reaches beyond."""
    node.require_dtype(FLOAT, DOUBLE)
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    counted = node.attr("count_include_pad", 0)
    if node.op == "AveragePool" and emit_window_means(node, x, out, w, bool(counted)):
        return
    power = node.attr("p", 2) if node.op == "LpPool" else 0
    planes = math.prod(x.shape[:2])
    params = {"planes": planes, **w.named, "end_pads": w.end_pads}
    params |= {"counts_padding": counted, "power": power}
    node.emit("average_pool", [x], [out], behind=window_behind(planes, w, x), **params)
