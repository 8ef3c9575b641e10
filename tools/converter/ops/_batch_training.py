"""BatchNormalization with training_mode: by the statistics of the batch itself."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ._elementwise import emit_binary, emit_unary
from .reduce import emit_reduce

FLOATS = (1, 11)
_MEAN, _SUM_SQUARE = 1, 7  # of kernel reduce


def emit_training(node) -> None:
    """y = (x - mean) / sqrt(variance + epsilon) * scale + bias, both of the batch.

    running = old * momentum + of the batch * (1 - momentum), for mean and variance.
    """
    dtype = node.require_dtype(*FLOATS)
    x, scale, bias = node.inputs[:3]
    if any(t.dtype != dtype for t in node.inputs):
        raise Problem("inputs of several dtypes")
    axes = [a for a in range(len(x.shape)) if a != 1]
    shape = (x.shape[1], *[1] * (len(x.shape) - 2))
    n = math.prod(x.shape) // max(x.shape[1], 1)
    mean, square = node.temp(dtype, shape), node.temp(dtype, shape)
    emit_reduce(node, _MEAN, 0, x, mean, axes)
    centred = _binary(node, "sub", x, mean)
    emit_reduce(node, _SUM_SQUARE, 0, centred, square, axes)
    variance = _binary(node, "div", square, _number(node, n))
    deviation = node.temp(dtype, shape)
    shifted = _binary(node, "add", variance, _number(node, node.attr("epsilon", 1e-5)))
    emit_unary(node, "sqrt", shifted, deviation)
    factor = _binary(node, "div", node.reshaped(scale, shape), deviation)
    scaled = _binary(node, "mul", centred, factor)
    emit_binary(node, "add", scaled, node.reshaped(bias, shape), node.outputs[0])
    for old, new, out in zip(node.inputs[3:], (mean, variance), node.outputs[1:], strict=False):
        if out is not None:
            _emit_running(node, old, node.reshaped(new, old.shape), out)


def _emit_running(node, old: Tensor, new: Tensor, out: Tensor):
    momentum = node.attr("momentum", 0.9)
    kept = _binary(node, "mul", old, _number(node, momentum))
    added = _binary(node, "mul", new, _number(node, 1 - momentum))
    emit_binary(node, "add", kept, added, out)


def _binary(node, op, a: Tensor, b: Tensor) -> Tensor:
    out = node.temp(a.dtype, np.broadcast_shapes(a.shape, b.shape))
    emit_binary(node, op, a, b, out)
    return out


def _number(node, value):
    return node.constant(np.asarray(value, node.inputs[0].np_dtype))
