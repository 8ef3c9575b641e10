"""MaxPool and GlobalMaxPool -> kernel max_pool."""

from __future__ import annotations

import math

from ..errors import Problem
from . import lowers
from ._windows import windows_of

FLOAT = 1


@lowers("MaxPool")
def lower_max_pool(node):
    node.require_dtype(FLOAT)
    if len(node.outputs) > 1 and node.outputs[1]:
        raise Problem("output Indices")
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    _emit(node, math.prod(x.shape[:2]), w.in_dims, w.kernel, w.out_dims, w.strides, w.dilations, w.pads)


def _emit(node, planes, *groups):
    params = [planes] + [v for group in groups for v in group]
    node.emit("max_pool", node.inputs[:1], node.outputs[:1], params)
