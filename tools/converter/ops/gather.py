"""Lower Gather, OneHot and ReverseSequence to kernels move, gather and one_hot."""

from __future__ import annotations

import math

import numpy as np

from ..shapes.extent import any_open
from . import lowers
from ._dtypes import BOOL, INT64
from ._elementwise import binary
from ._select import emit_gather, emit_known_gather
from .select import emit_where


@lowers("Gather")
def lower_gather(node):
    """Lower Gather. Known indices become strided copies if they are regular."""
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    axis = node.attr("axis", 0) % len(x.shape)
    if index.data is None or any_open(x.shape):
        emit_gather(node, x, index, out, axis)
    else:
        emit_known_gather(node, x, index, out, axis)


@lowers("OneHot", fixes_shape=(1,))
def lower_one_hot(node):
    index, values, out = node.inputs[0], node.inputs[2], node.outputs[0]
    axis = node.attr("axis", -1) % len(out.shape)
    outer, inner = math.prod(out.shape[:axis]), math.prod(out.shape[axis + 1 :])
    node.emit("one_hot", [index, values], [out], outer=outer, depth=out.shape[axis], inner=inner)


@lowers("ReverseSequence")
def lower_reverse_sequence(node):
    """Lower ReverseSequence.

    Step t of a sequence of n steps is taken from step n - 1 - t if t < n, else from t.
    """
    x, lengths, out = node.inputs[0], node.inputs[1], node.outputs[0]
    time, batch = node.attr("time_axis", 0), node.attr("batch_axis", 1)
    shape = (x.shape[0], x.shape[1])
    n_steps, n_batches = shape[time], shape[batch]
    steps, batches = np.arange(n_steps), np.arange(n_batches)
    if time == 0:
        steps, time_stride, batch_stride = steps[:, None], n_batches, 1
    else:
        batches, time_stride, batch_stride = batches[:, None], 1, n_steps
        lengths = node.reshaped(lengths, (n_batches, 1))
    # Indices are rows of x: step t of batch b is row t * time_stride + b * batch_stride.
    mirrored = binary(node, "sub", lengths, node.constant(steps + 1))
    inside = binary(node, "less", node.constant(steps), lengths, BOOL)
    chosen = node.temp(INT64, shape)
    emit_where(node, inside, mirrored, node.constant(steps), chosen)
    rows = binary(node, "mul", chosen, time_stride)
    rows = binary(node, "add", rows, node.constant(batches * batch_stride))
    flat = (math.prod(shape), math.prod(x.shape[2:]))
    target = node.temp(x.dtype, flat)
    node.alias(target, out)
    emit_gather(node, node.reshaped(x, flat), node.reshaped(rows, flat[:1]), target, 0)
