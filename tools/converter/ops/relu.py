"""Relu -> kernel relu, or max(x, 0) for what is not float32."""

from __future__ import annotations

import numpy as np

from ..steps.overlap import item_by_item
from ..steps.rows import ItemRows
from . import lowers
from ._elementwise import emit_binary

FLOAT = 1


@lowers("Relu")
def lower_relu(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == FLOAT:
        node.emit("relu", [x], [out], over=item_by_item(out, [x]), rows=ItemRows())
    else:
        emit_binary(node, "max", x, node.constant(np.zeros((), x.np_dtype)), out)
