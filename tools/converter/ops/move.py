"""Lower Transpose, DepthToSpace, SpaceToDepth, Concat, Expand and Tile to kernel move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._extents import emit_measure, matched
from ._move import emit_move, emit_transpose, strides_of
from ._select import alias_or_select


@lowers("Transpose")
def lower_transpose(node):
    x = node.inputs[0]
    perm = node.attr("perm", list(range(len(x.shape)))[::-1])
    emit_transpose(node, x, node.outputs[0], x.shape, perm)


@lowers("DepthToSpace")
def lower_depth_to_space(node):
    """Lower DepthToSpace in mode DCR (depth, column, row) or CRD. Before opset 11 only DCR."""
    x = node.inputs[0]
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    if b < 1 or c % (b * b):
        raise Problem(f"blocksize {b} for {c} channels")
    if node.attr("mode", "DCR") == "DCR":
        view, perm = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        view, perm = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    emit_transpose(node, x, node.outputs[0], view, perm)


@lowers("SpaceToDepth")
def lower_space_to_depth(node):
    x = node.inputs[0]
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    perm = (0, 3, 5, 1, 2, 4) if node.attr("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    emit_transpose(node, x, node.outputs[0], (n, c, h // b, b, w // b, b), perm)


@lowers("Concat")
def lower_concat(node):
    emit_concat(node, node.inputs, node.outputs[0])


def emit_concat(node, inputs: Sequence[Tensor], out: Tensor) -> None:
    """Emit out = the inputs, concatenated along the node's axis."""
    axis = node.attr("axis") % len(out.shape)
    strides = strides_of(out.shape)
    start = 0
    for x in inputs:
        emit_move(
            node.emit, x, out, x.shape, strides_of(x.shape), strides, 0, start * strides[axis]
        )
        start += x.shape[axis]


@lowers("Expand", fixes_shape=(1,), at_run_time=(1,))
def lower_expand(node):
    x, out = node.inputs[0], node.outputs[0]
    x = matched(node, x, out.shape)
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
    """Emit a Tile of open extents as a walk with two dimensions for each axis."""
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
