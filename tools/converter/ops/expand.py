"""Expand and Tile -> kernel move."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._move import emit_move, strides_of
from ._select import alias_or_select


@lowers("Expand", fixes_shape=(1,))
def lower_expand(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.nelem == out.nelem:
        node.alias(out, x)
        return
    shape = (1,) * (len(out.shape) - len(x.shape)) + x.shape
    strides = [s if d > 1 else 0 for s, d in zip(strides_of(shape), shape, strict=True)]
    emit_move(node.emit, x, out, out.shape, strides, strides_of(out.shape))


@lowers("Tile", fixes_shape=(1,))
def lower_tile(node):
    x = node.inputs[0]
    repeats = node.const(1, "repeats").tolist()
    maps = [np.tile(np.arange(d), r) for d, r in zip(x.shape, repeats, strict=True)]
    alias_or_select(node, x, node.outputs[0], maps)
