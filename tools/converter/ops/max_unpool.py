"""MaxUnpool -> kernels move, offsets, scatter."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._move import emit_fill
from ._select import emit_select
from .scatter import emit_offsets

COPY = 0


@lowers("MaxUnpool", fixes_shape=(2,))
def lower_max_unpool(node):
    """Indices count in the shape that the attributes imply; output_shape may pad its ends."""
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    shape = _implied_shape(node, x)
    target = out if shape == out.shape else node.temp(x.dtype, shape)
    zero = node.constant(np.zeros(1, x.np_dtype))
    for t in dict.fromkeys((target, out)):
        emit_fill(node, zero, t)
    rows = emit_offsets(node, index, [index.nelem], [0], [target.nelem], [1])
    node.emit("scatter", [x, rows], [target], op=COPY, n=target.nelem, inner=1)
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
