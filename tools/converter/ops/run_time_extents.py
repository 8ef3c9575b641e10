"""Lower NonZero, Compress, Unique and NonMaxSuppression, whose result decides its own shape."""

from __future__ import annotations

import math

import numpy as np

from ..shapes import extent
from . import lowers
from ._axes import lines_of
from ._dtypes import BOOL, INT32, INT64, NUMBERS
from ._extents import store
from ._select import emit_gather


@lowers("NonZero")
def lower_nonzero(node):
    node.require_dtype(*NUMBERS, BOOL)
    x, out = node.inputs[0], node.outputs[0]
    if extent.is_open(out.shape[1]):
        emit_nonzero(node, x, out)


def emit_nonzero(node, x, out):
    """Emit out, int64 (rank, a run-time dimension) = the indices of nonzero elements."""
    dims = x.shape or (1,)
    count = extent.number_of(out.shape[1])
    node.emit("nonzero", [x], [store(node, out)], count=count, dims=dims)


@lowers("Compress")
def lower_compress(node):
    """Lower Compress to the indices where the condition is true, and a Gather."""
    x, condition, out = node.inputs[0], node.inputs[1], node.outputs[0]
    axis = node.attr("axis")
    if axis is None:
        x, axis = node.reshaped(x, [x.nelem]), 0
    axis %= len(x.shape)
    if not extent.is_open(out.shape[axis]):
        return
    index = node.temp(INT64, [1, out.shape[axis]])
    emit_nonzero(node, condition, index)
    emit_gather(node, x, index, out, axis)


@lowers("Unique")
def lower_unique(node):
    """Lower Unique to the indices of first occurrences, and a Gather."""
    x = node.inputs[0]
    node.require_dtype(*NUMBERS, BOOL)
    axis = node.attr("axis")
    if axis is None:
        x, axis = node.reshaped(x, [x.nelem]), 0
    outer, n, inner = lines_of(x.shape, axis)
    values, indices, inverse, counts = (*node.outputs, None, None, None)[:4]
    count = next(t.shape[i] for t, i in ((values, axis), (indices, 0), (counts, 0)) if t)
    if not extent.is_open(count):
        return
    indices = indices or node.temp(INT64, [count])
    counts = counts or node.temp(INT64, [count])
    inverse = inverse or node.temp(INT64, [n])
    scratch = node.temp(INT32, [extent.bound_of(2 * n)])
    params = {"count": extent.number_of(count), "sorted": node.attr("sorted", 1)}
    params |= {"outer": outer, "n": n, "inner": inner}
    outs = [store(node, indices), inverse, store(node, counts)]
    node.emit("unique", [x], outs, scratch=[scratch], **params)
    if values:
        emit_gather(node, x, indices, values, axis % len(x.shape))


@lowers("NonMaxSuppression")
def lower_non_max_suppression(node):
    boxes, scores, out = node.inputs[0], node.inputs[1], node.outputs[0]
    batches, classes, n = scores.shape
    if not extent.is_open(out.shape[0]):
        return
    most = node.input(2) or node.constant(np.array([0]))
    iou = node.input(3) or node.constant(np.zeros(1, np.float32))
    least = node.input(4) or node.constant(np.array([-math.inf], np.float32))
    scratch = node.temp(INT32, [extent.bound_of(n)])
    node.emit(
        "non_max_suppression",
        [boxes, scores, most, iou, least],
        [store(node, out)],
        scratch=[scratch],
        count=extent.number_of(out.shape[0]),
        center=node.attr("center_point_box", 0),
        batches=batches,
        classes=classes,
        n=n,
    )
