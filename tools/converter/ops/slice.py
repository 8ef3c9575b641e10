"""Lower Slice, Split, Pad and CenterCropPad to kernel move."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..shapes.extent import any_open, is_open
from . import lowers
from ._extents import emit_slice
from ._move import emit_fill, emit_move, strides_of
from ._select import Whole, alias_or_select, emit_select

_LARGEST = (2**31 - 1, 2**63 - 1)  # in onnxruntime the last element in either direction


@lowers("Slice", fixes_shape=(1, 2, 3, 4), at_run_time=(1, 2))
def lower_slice(node):
    """Lower Slice. starts, ends and axes are attributes before opset 10, which added steps."""
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
        if step < 0 and ends[i] in _LARGEST and x.shape[axis]:
            text = f"end {ends[i]} with step {step}: by ONNX's rules the slice is empty, "
            text += "onnxruntime goes on to the first element"
            raise Problem(text, f"write {-1 - ends[i]} as the end for all elements")
        maps[axis] = _indices(x.shape[axis], starts[i], ends[i], step)
    alias_or_select(node, x, node.outputs[0], maps)


def _is_open(node):
    return any(t is not None and t.data is None for t in node.inputs[1:])


def _list(node, i):
    return node.const(i).tolist() if node.input(i) is not None else None


def _indices(d, start, end, step):
    """Return the indices that a Slice takes from an axis of size d.

    The result is range(d)[start:end:step] as an array, but a start before the first element means
    the first element.
    """
    return np.arange(*slice(max(start, -d), end, step).indices(d))


@lowers("Split", fixes_shape=(1,))
def lower_split(node):
    """Lower Split. Sizes are an attribute before opset 13, an input, or implied."""
    x = node.inputs[0]
    axis = node.attr("axis", 0) % len(x.shape)
    sizes = node.attr("split") if node.opset < 13 else _list(node, 1)
    start = 0
    for i, out in enumerate(node.outputs):
        if out is not None and any_open(x.shape):
            strides = strides_of(x.shape)
            first = start * strides[axis]
            emit_move(node.emit, x, out, out.shape, strides, strides_of(out.shape), first)
        elif out is not None:
            maps = [np.arange(d) for d in x.shape]
            maps[axis] = np.arange(start, start + out.shape[axis])
            alias_or_select(node, x, out, maps)
        if out is not None:
            start += out.shape[axis]
        else:  # without sizes parts are equal, but for the last one
            start += sizes[i] if sizes else -(-x.shape[axis] // len(node.outputs))


@lowers("Pad", fixes_shape=(1, 3))
def lower_pad(node):
    """Lower Pad. pads and value are attributes before opset 11; opset 18 added axes."""
    x, out = node.inputs[0], node.outputs[0]
    rank = len(x.shape)
    pads = node.attr("pads") if node.opset < 11 else node.const(1, "pads").tolist()
    axes = node.const(3, "axes").tolist() if node.input(3) is not None else list(range(rank))
    mode = node.attr("mode", "constant")
    ends = {axis % rank: (pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)}
    maps = [_padded(d, *ends.get(axis, (0, 0)), mode) for axis, d in enumerate(x.shape)]
    if mode == "constant" and any(map(max, ends.values())):
        emit_fill(node, _value(node), out)
    alias_or_select(node, x, out, maps)


def _padded(extent, begin, end, mode):
    """Return the indices of an axis after padding, -1 for the constant. Negative pads crop.

    Args:
        extent: extent of the axis.
        begin: pads at the beginning.
        end: pads at the end.
        mode: as for Pad.
    """
    if is_open(extent):
        if min(begin, end) < 0 or mode != "constant" and (begin, end) != (0, 0):
            raise Problem("pads of a run-time extent: positive ones of a constant are supported")
        return Whole(begin)
    index = np.arange(extent)
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise Problem(f"mode {mode}")
    options = {"constant_values": -1} if mode == "constant" else {}
    cropped = index[max(-begin, 0) : len(index) + min(end, 0)]
    return np.pad(cropped, (max(begin, 0), max(end, 0)), mode, **options)


def _value(node):
    """Return constant_value as a tensor of one element, by default 0."""
    x = node.inputs[0]
    if node.opset >= 11 and node.input(2) is not None:
        return node.input(2)
    value = node.attr("value", 0.0) if node.opset < 11 else 0
    return node.constant(np.array(value, x.np_dtype))


@lowers("CenterCropPad", fixes_shape=(1,))
def lower_center_crop_pad(node):
    """Lower CenterCropPad, with zeros. An odd element is added or removed at the end."""
    x, out = node.inputs[0], node.outputs[0]
    maps = [np.arange(d) for d in x.shape]
    for axis in node.attr("axes", range(len(x.shape))):
        d, size = x.shape[axis], out.shape[axis]
        first = (d - size) // 2 if size <= d else -((size - d) // 2)
        index = first + np.arange(size)
        maps[axis] = np.where((index < 0) | (index >= d), -1, index)
    if any((m < 0).any() for m in maps):
        emit_fill(node, node.constant(np.zeros(1, x.np_dtype)), out)
    emit_select(node, x, out, maps)
