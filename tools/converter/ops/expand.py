"""Expand and Tile -> kernel move."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..shapes.extent import any_open
from . import lowers
from ._extents import emit_measure
from ._move import emit_move, strides_of
from ._select import alias_or_select


@lowers("Expand", fixes_shape=(1,), at_run_time=(1,))
def lower_expand(node):
    x, out = node.inputs[0], node.outputs[0]
    shape = (1,) * (len(out.shape) - len(x.shape)) + x.shape
    same = [1 if a == b else b for a, b in zip(shape, out.shape, strict=True)]
    emit_measure(node, 1, out.shape, same)
    if x.nelem == out.nelem:
        node.alias(out, x)
        return
    strides = [s if d != 1 else 0 for s, d in zip(strides_of(shape), shape, strict=True)]
    emit_move(node.emit, x, out, out.shape, strides, strides_of(out.shape))


@lowers("Tile", fixes_shape=(1,), at_run_time=(1,))
def lower_tile(node):
    x, out = node.inputs[0], node.outputs[0]
    if any_open(out.shape):
        _tile_open(node, x, out)
        return
    repeats = node.const(1, "repeats").tolist()
    maps = [np.tile(np.arange(d), r) for d, r in zip(x.shape, repeats, strict=True)]
    alias_or_select(node, x, node.outputs[0], maps)


def _tile_open(node, x, out):
    """Two dims for each axis: the repeats, and the axis itself."""
    repeats = node.contents(1)
    if repeats is None:
        raise Problem("repeats that only a run knows")
    dims, x_strides, out_strides = [], [], []
    for d, r, xs, os in zip(
        x.shape, repeats, strides_of(x.shape), strides_of(out.shape), strict=True
    ):
        dims += [r, d]
        x_strides += [0, xs]
        out_strides += [d * os, os]
    emit_move(node.emit, x, out, dims, x_strides, out_strides)
