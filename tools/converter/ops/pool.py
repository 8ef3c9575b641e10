"""Lower AveragePool, LpPool, MaxPool and MaxUnpool to their kernels, and means to block_conv."""

from __future__ import annotations

import math

import numpy as np

from ..steps.rows import Rows
from . import lowers
from ._dtypes import DOUBLE, FLOAT, INT8, UINT8
from ._means import emit_window_means
from ._move import emit_fill
from ._select import emit_select
from ._windows import require_nonempty, require_whole, window_behind, windows_of
from .scatter import emit_offsets


@lowers("AveragePool", "LpPool")
def lower_average_pool(node):
    """Lower AveragePool and LpPool.

    count_include_pad counts explicit padding, but not the padding that ceil_mode adds.
    """
    node.require_dtype(FLOAT, DOUBLE)
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    require_whole(node, w)
    counted = node.attr("count_include_pad", 0)
    if node.op == "AveragePool" and not counted:
        require_nonempty(w)
    if node.op == "AveragePool" and emit_window_means(node, x, out, w, bool(counted)):
        return
    power = node.attr("p", 2) if node.op == "LpPool" else 0
    planes = math.prod(x.shape[:2])
    params = {"planes": planes, **w.named, "end_pads": w.end_pads}
    params |= {"counts_padding": counted, "power": power}
    node.emit("average_pool", [x], [out], behind=window_behind(planes, w, x), **params)


_ROWS = Rows(single=("d", "kd", "od"))


@lowers("MaxPool")
def lower_max_pool(node):
    node.require_dtype(FLOAT, UINT8, INT8)
    x, outputs = node.inputs[0], [out for out in node.outputs if out is not None]
    w = windows_of(node, node.attr("kernel_shape"), outputs[0].shape)
    require_whole(node, w)
    require_nonempty(w)
    d, h, width = w.in_dims
    index = [h * width, width, 1]
    if node.attr("storage_order", 0):  # the first spatial dimension varies fastest
        index = [1, d, d * h]
    params = {"planes": math.prod(x.shape[:2]), **w.named, "index_strides": index}
    if len(outputs) == 1:
        params |= {"behind": window_behind(params["planes"], w, x), "rows": _ROWS}
    node.emit("max_pool", [x], outputs, **params)


_COPY = 0  # operation of kernel scatter


@lowers("MaxUnpool", fixes_shape=(2,))
def lower_max_unpool(node):
    """Lower MaxUnpool.

    Indices refer to the shape that the attributes imply; output_shape may pad its ends.
    """
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    shape = _implied_shape(node, x)
    target = out if shape == out.shape else node.temp(x.dtype, shape)
    zero = node.constant(np.zeros(1, x.np_dtype))
    for t in dict.fromkeys((target, out)):
        emit_fill(node, zero, t)
    rows = emit_offsets(node, index, [index.nelem], [0], [target.nelem], [1])
    node.emit("scatter", [x, rows], [target], op=_COPY, n=target.nelem, inner=1)
    if target is not out:
        maps = [
            np.where(np.arange(o) < d, np.arange(o), -1)
            for o, d in zip(out.shape, shape, strict=True)
        ]
        emit_select(node, target, out, maps)


def _implied_shape(node, x):
    rank = len(x.shape) - 2
    kernel, strides = node.attr("kernel_shape"), node.attr("strides", [1] * rank)
    pads = node.attr("pads", [0] * rank * 2)
    dims = [
        (x.shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i]
        for i in range(rank)
    ]
    return (*x.shape[:2], *dims)
