"""ReverseSequence -> kernels binary and gather."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from . import lowers
from ._elementwise import emit_binary
from ._select import emit_gather
from .select import emit_where

BOOL, INT64 = 9, 7


@lowers("ReverseSequence")
def lower_reverse_sequence(node):
    """Step t of a sequence of n steps comes from step n - 1 - t if t < n, else from t."""
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
    # everything in rows of x: step t of batch b is row t * time_stride + b * batch_stride
    mirrored = _binary(node, "sub", lengths, node.constant(steps + 1), shape)
    inside = _binary(node, "less", node.constant(steps), lengths, shape, BOOL)
    chosen = node.temp(INT64, shape)
    emit_where(node, inside, mirrored, node.constant(steps), chosen)
    rows = _binary(node, "mul", chosen, node.constant(np.int64(time_stride)), shape)
    rows = _binary(node, "add", rows, node.constant(batches * batch_stride), shape)
    flat = (math.prod(shape), math.prod(x.shape[2:]))
    target = node.temp(x.dtype, flat)
    node.alias(target, out)
    emit_gather(node, node.reshaped(x, flat), node.reshaped(rows, flat[:1]), target, 0)


def _binary(node, op, a: Tensor, b: Tensor, shape, dtype=INT64):
    out = node.temp(dtype, shape)
    emit_binary(node, op, a, b, out)
    return out
