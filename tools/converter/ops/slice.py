"""Slice and Split -> kernel move."""

from __future__ import annotations

import numpy as np

from ..shapes.extent import any_open
from . import lowers
from ._extents import emit_slice
from ._move import emit_move, strides_of
from ._select import alias_or_select


@lowers("Slice", fixes_shape=(1, 2, 3, 4), at_run_time=(1, 2))
def lower_slice(node):
    """starts, ends, axes are attributes before opset 10; steps came with opset 10."""
    x = node.inputs[0]
    if any_open((*x.shape, *node.outputs[0].shape)) or _is_open(node):
        emit_slice(node, x, node.outputs[0])
        return
    if node.opset < 10:
        starts, ends, axes = node.attr("starts"), node.attr("ends"), node.attr("axes")
        steps = None
    else:
        starts, ends, axes, steps = [_list(node, i) for i in range(1, 5)]
    maps = [np.arange(d) for d in x.shape]
    for i, axis in enumerate(axes or range(len(starts))):
        step = steps[i] if steps else 1
        maps[axis] = _indices(x.shape[axis], starts[i], ends[i], step)
    alias_or_select(node, x, node.outputs[0], maps)


def _is_open(node):
    return any(t is not None and t.data is None for t in node.inputs[1:])


def _list(node, i):
    return node.const(i).tolist() if node.input(i) is not None else None


def _indices(d, start, end, step):
    """ONNX's clamping: as Python's, but an end of -d - 1 or less means `before the first`."""
    return np.arange(*slice(start, end, step).indices(d))


@lowers("Split", fixes_shape=(1,))
def lower_split(node):
    """Sizes as attribute (opset < 13), input, or implied; the outputs' shapes say them all."""
    x = node.inputs[0]
    axis = node.attr("axis", 0) % len(x.shape)
    sizes = node.attr("split") if node.opset < 13 else _list(node, 1)
    at = 0
    for i, out in enumerate(node.outputs):
        if out is not None and any_open(x.shape):
            strides = strides_of(x.shape)
            first = at * strides[axis]
            emit_move(node.emit, x, out, out.shape, strides, strides_of(out.shape), first)
        elif out is not None:
            maps = [np.arange(d) for d in x.shape]
            maps[axis] = np.arange(at, at + out.shape[axis])
            alias_or_select(node, x, out, maps)
        at += (
            out.shape[axis]
            if out is not None
            else _size(sizes, i, x.shape[axis], len(node.outputs))
        )


def _size(sizes, i, d, n):
    """Size of part i of an unused output; equal parts, the last one smaller, if not given."""
    return sizes[i] if sizes else -(-d // n)
