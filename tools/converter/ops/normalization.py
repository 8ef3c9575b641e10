"""Lower BatchNormalization and LRN to elementwise steps and means along the channels."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from . import lowers
from ._dtypes import FLOATS
from ._elementwise import binary, emit_any_power, emit_binary, unary
from ._means import emit_window_means
from ._windows import Windows
from .reduce import emit_reduce


@lowers("BatchNormalization")
def lower_batch_normalization(node):
    """Lower to (x - mean) / sqrt(variance + epsilon) * scale + bias.

    Constants, as usual for inference, become one factor and one summand for each channel.
    """
    if node.attr("training_mode", 0):
        _emit_training(node)
        return
    if len(node.outputs) > 1:
        raise Problem("BatchNormalization in training mode", "export the model for inference")
    x, out = node.inputs[0], node.outputs[0]
    # spatial = 0 (up to opset 8): statistics for each position, not just for each channel
    spatial = node.attr("spatial", 1)
    shape = (*x.shape[1:2], *[1 for _ in x.shape[2:]]) if spatial else x.shape[1:]
    epsilon = node.attr("epsilon", 1e-5)
    if all(t.data is not None for t in node.inputs[1:5]):
        _emit_folded(node, x, out, shape, epsilon)
    else:
        _emit_steps(node, x, out, shape, epsilon)


def _emit_folded(node, x, out, shape, epsilon):
    """Emit x * factor + summand, for constant scale, bias, mean and variance.

    Args:
        node: the node to lower.
        x: input.
        out: output.
        shape: shape in which a value per channel is broadcast to x.
        epsilon: addend of the variance, a number.
    """
    scale, bias, mean, variance = (t.data.astype(np.float64) for t in node.inputs[1:5])
    factor = scale / np.sqrt(variance + epsilon)
    summand = bias - mean * factor
    factor, summand = (
        node.constant(v.reshape(shape).astype(x.np_dtype)) for v in (factor, summand)
    )
    emit_binary(node, "add", binary(node, "mul", x, factor), summand, out)


def _emit_steps(node, x, out, shape, epsilon):
    """Emit (x - mean) * factor + bias, for mean and variance that are known only at run time.

    Args:
        node: the node to lower.
        x: input.
        out: output.
        shape: shape in which a value per channel is broadcast to x.
        epsilon: addend of the variance, a number.
    """
    scale, bias, mean, variance = node.inputs[1:5]
    deviation = unary(node, "sqrt", binary(node, "add", variance, epsilon))
    factor = binary(node, "div", scale, deviation)
    mean, factor, bias = (node.reshaped(t, shape) for t in (mean, factor, bias))
    scaled = binary(node, "mul", binary(node, "sub", x, mean), factor)
    emit_binary(node, "add", scaled, bias, out)


_MEAN, _SUM_SQUARE = 1, 7  # operations of kernel reduce


def _emit_training(node) -> None:
    """Emit the normalization with mean and variance of the batch, and running ones.

    running = old * momentum + new * (1 - momentum), for mean and variance.
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
    centred = binary(node, "sub", x, mean)
    emit_reduce(node, _SUM_SQUARE, 0, centred, square, axes)
    variance = binary(node, "div", square, n)
    shifted = binary(node, "add", variance, node.attr("epsilon", 1e-5))
    deviation = unary(node, "sqrt", shifted)
    factor = binary(node, "div", node.reshaped(scale, shape), deviation)
    scaled = binary(node, "mul", centred, factor)
    emit_binary(node, "add", scaled, node.reshaped(bias, shape), node.outputs[0])
    for old, new, out in zip(node.inputs[3:], (mean, variance), node.outputs[1:], strict=False):
        if out is not None:
            _emit_running(node, old, node.reshaped(new, old.shape), out)


def _emit_running(node, old: Tensor, new: Tensor, out: Tensor):
    """Emit out = old * momentum + new * (1 - momentum)."""
    momentum = node.attr("momentum", 0.9)
    kept = binary(node, "mul", old, momentum)
    added = binary(node, "mul", new, 1 - momentum)
    emit_binary(node, "add", kept, added, out)


_MAX_SIZE = 1 << 16  # channels


@lowers("LRN")
def lower_lrn(node):
    """Lower LRN: x / (bias + alpha / size * (sum of x * x over `size` channels)) ** beta.

    The sum over the channels around each, divided by size, is an average pool along the channels
    that counts its padding.
    """
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    n, channels = x.shape[:2]
    nelem, size = math.prod(x.shape[2:]), node.attr("size")
    if not 0 < size <= _MAX_SIZE:
        raise Problem(f"size {size}")
    before = (size - 1) // 2
    mean, power = node.temp(x.dtype, x.shape), node.temp(x.dtype, x.shape)
    square = binary(node, "mul", x, x)
    dims, ones, pads = [1, channels, nelem], [1, 1, 1], ([0, before, 0], [0, size - 1 - before, 0])
    windows = Windows(dims, [1, size, 1], dims, ones, ones, *pads)
    planes = [node.reshaped(t, (n, *dims)) for t in (square, mean)]
    if not emit_window_means(node, *planes, windows, True):
        params = {"planes": n, **windows.named, "end_pads": windows.end_pads}
        node.emit("average_pool", [square], [mean], counts_padding=1, power=0, **params)
    beta = node.attr("beta", 0.75)
    scaled = binary(node, "mul", mean, node.attr("alpha", 1e-4))
    shifted = binary(node, "add", scaled, node.attr("bias", 1.0))
    emit_any_power(node, shifted, beta, power)
    emit_binary(node, "div", x, power, out)
