"""BatchNormalization -> kernel binary, channel by channel."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from . import lowers
from ._batch_training import emit_training
from ._elementwise import emit_binary, emit_unary


@lowers("BatchNormalization")
def lower_batch_normalization(node):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, at inference.

    Constants (the usual case) become one factor and one summand a channel.
    """
    if node.attr("training_mode", 0):
        emit_training(node)
        return
    if len(node.outputs) > 1:
        raise Problem("BatchNormalization in training mode", "export the model for inference")
    x, out = node.inputs[0], node.outputs[0]
    # spatial = 0 (up to opset 8): statistics for each position, not only for each channel
    spatial = node.attr("spatial", 1)
    shape = (*x.shape[1:2], *[1 for _ in x.shape[2:]]) if spatial else x.shape[1:]
    epsilon = node.attr("epsilon", 1e-5)
    if all(t.data is not None for t in node.inputs[1:5]):
        _emit_folded(node, x, out, shape, epsilon)
    else:
        _emit_steps(node, x, out, shape, epsilon)


def _emit_folded(node, x, out, shape, epsilon):
    scale, bias, mean, variance = (t.data.astype(np.float64) for t in node.inputs[1:5])
    factor = scale / np.sqrt(variance + epsilon)
    summand = bias - mean * factor
    scaled = node.temp(x.dtype, x.shape)
    for op, a, values, target in (("mul", x, factor, scaled), ("add", scaled, summand, out)):
        constant = node.constant(values.reshape(shape).astype(x.np_dtype))
        emit_binary(node, op, a, constant, target)


def _emit_steps(node, x, out, shape, epsilon):
    scale, bias, mean, variance = node.inputs[1:5]
    shifted, deviation, factor = (node.temp(variance.dtype, variance.shape) for _ in range(3))
    epsilon = node.constant(np.asarray(epsilon, variance.np_dtype))
    emit_binary(node, "add", variance, epsilon, shifted)
    emit_unary(node, "sqrt", shifted, deviation)
    emit_binary(node, "div", scale, deviation, factor)
    centred, scaled = node.temp(x.dtype, x.shape), node.temp(x.dtype, x.shape)
    for op, a, values, target in (
        ("sub", x, mean, centred),
        ("mul", centred, factor, scaled),
        ("add", scaled, bias, out),
    ):
        emit_binary(node, op, a, node.reshaped(values, shape), target)
