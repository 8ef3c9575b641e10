"""Lower LayerNormalization and its relatives to kernels normalize, qnormalize and reduce."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.overlap import line_leads
from . import MS, OWN, lowers
from ._dtypes import FLOAT, FLOATS
from ._elementwise import binary, broadcast, emit_binary, float_bits
from ._extents import matched
from ._microsoft import like
from ._move import emit_copy, emit_move, strides_of
from ._qfunctions import emit_quantized_norm
from .ms_qlinear import dequantized, quantize, scale_and_zero
from .reduce import emit_reduce

_MEAN, _NORM = 1, 8  # operations of kernel reduce


def _infer_statistics(node):
    """Return types of the output, and of a mean and a deviation for each row."""
    x = node.inputs[0]
    axis = node.attr("axis", -1) % max(len(x.shape), 1)
    rows = FLOAT, [*x.shape[:axis], *[1] * len(x.shape[axis:])]
    return [(x.dtype, x.shape), rows, rows]


def _rows(node):
    """Return the shape of a row (axes from `axis` on), the number of rows, and their length."""
    x = node.inputs[0]
    axis = node.attr("axis", -1) % max(len(x.shape), 1)
    return x.shape[axis:], (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@lowers("LayerNormalization", domain=MS, infer=_infer_statistics)
@lowers("LayerNormalization", domain=OWN, infer=like(0))
@lowers("LayerNormalization", "RMSNormalization")
def lower_layer_normalization(node):
    """Lower normalization over the axes from `axis` on, to which scale and bias broadcast."""
    node.require_dtype(*FLOATS)
    row, sizes = _rows(node)
    factors = [_spread(node, t, row) for t in node.inputs[1:] if t is not None]
    centred = int(node.op == "LayerNormalization")
    _emit_normalize(node, factors, sizes, centred, (1, 0, 1))


@lowers("InstanceNormalization", "GroupNormalization")
def lower_group_normalization(node):
    """Lower InstanceNormalization and GroupNormalization.

    Scale and bias have one value for each channel; in opset 18 GroupNormalization has one for
    each group.
    """
    node.require_dtype(*FLOATS)
    x = node.inputs[0]
    n, channels = x.shape[:2]
    groups = node.attr("num_groups", channels)
    nelem = math.prod(x.shape[2:])
    group_channels = channels // max(groups, 1)
    spread = (max(groups, 1), group_channels, max(nelem, 1))
    if node.op == "GroupNormalization" and node.opset < 21:
        spread = (max(groups, 1), 1, max(nelem * group_channels, 1))
    _emit_normalize(node, node.inputs[1:3], (n * groups, group_channels * nelem), 1, spread)


def _emit_normalize(node, factors, sizes, centred, spread):
    """Emit a normalization, also with the statistics that the node has outputs for.

    Args:
        node: the node to lower.
        factors: as for emit_normalize.
        sizes: as for emit_normalize.
        centred: as for emit_normalize.
        spread: as for emit_normalize.
    """
    x, outputs = node.inputs[0], node.outputs[:1]
    if any(node.outputs[1:]):
        statistics = [*node.outputs[1:], None, None][:2]
        outputs = outputs + [t or node.temp(x.dtype, (sizes[0],)) for t in statistics]
    emit_normalize(node, x, factors, outputs, sizes, centred, spread)


def emit_normalize(node, x, factors, outputs, sizes, centred, spread, default_epsilon=1e-5):
    """Emit one step of kernel normalize, with the node's epsilon.

    Args:
        node: the node to lower.
        x: the input.
        factors: scale and bias.
        outputs: the output, and a mean and a deviation if requested.
        sizes: number of rows, and elements of a row.
        centred: whether the mean is subtracted.
        spread: (period, step, block) of scale and bias (see the kernel).
        default_epsilon: epsilon if the node has none.
    """
    epsilon = float_bits(node.attr("epsilon", default_epsilon))
    params = {"lines": sizes[0], "n": sizes[1], "centred": int(centred), "epsilon": epsilon}
    params |= dict(zip(("period", "step", "width"), spread, strict=True))
    over = line_leads(outputs[0], x, sizes[1], 1)
    node.emit("normalize", [x, *factors], outputs, over=over, **params)


def _spread(node, t: Tensor, shape):
    """Return t broadcast to a shape."""
    if t.nelem == math.prod(shape):
        return t
    if t.data is not None:
        return node.constant(np.broadcast_to(t.data, shape))
    out = node.temp(t.dtype, shape)
    t = matched(node, t, shape)
    dims, (strides,) = broadcast(shape, t)
    emit_move(node.emit, t, out, dims, strides, strides_of(dims))
    return out


@lowers("QLinearLayerNormalization", domain=OWN, infer=like(0))
def lower_quantized(node):
    """Lower to the result of DequantizeLinear, LayerNormalization and QuantizeLinear."""
    x, factors, out = node.inputs[0], node.inputs[3:5], node.outputs[0]
    row, sizes = _rows(node)
    if not any_open(row) and all(t.data is not None for t in factors):
        known = [np.broadcast_to(t.data, row).reshape(-1) for t in factors]
        if emit_quantized_norm(
            node, [x, *scale_and_zero(node, 1)], [out, *scale_and_zero(node, 5)], *known
        ):
            return
    y = node.temp(FLOAT, out.shape)
    factors = [_spread(node, t, row) for t in factors]
    emit_normalize(node, dequantized(node, 0), factors, [y], sizes, 1, (1, 0, 1))
    quantize(node, y, 5)


@lowers("MeanVarianceNormalization", domain=MS, infer=like(0))
@lowers("MeanVarianceNormalization")
def lower_mean_variance_normalization(node):
    """Lower to (x - mean) / (deviation + 1e-9), with the deviation of the centred values.

    It centres twice: a large mean is rounded more coarsely than x - mean has to be. Before opset 9
    other attributes select the axes (see load/ort_domain.py).
    """
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    default = [0, 1, 2, 3] if node.attr("across_channels", 0) else [0, 2, 3]
    axes = [a % len(x.shape) for a in node.attr("axes", default)]
    kept = [1 if a in axes else d for a, d in enumerate(x.shape)]
    n = math.prod(x.shape[a] for a in axes)
    norm, centred = node.temp(x.dtype, kept), x
    for _ in range(2):
        mean = node.temp(x.dtype, kept)
        emit_reduce(node, _MEAN, 0, centred, mean, axes)
        centred = binary(node, "sub", centred, mean)
    emit_reduce(node, _NORM, 2, centred, norm, axes)
    if not node.attr("normalize_variance", 1):
        emit_copy(node.emit, centred, out)
        return
    deviation = binary(node, "add", binary(node, "div", norm, np.sqrt(n)), 1e-9)
    emit_binary(node, "div", centred, deviation, out)


@lowers("LpNormalization")
def lower_lp_normalization(node):
    """Lower to x / (its p-norm along an axis). Zeros stay zeros."""
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    axis = node.attr("axis", -1) % len(x.shape)
    kept = [1 if a == axis else d for a, d in enumerate(x.shape)]
    norm = node.temp(x.dtype, kept)
    emit_reduce(node, _NORM, node.attr("p", 2), x, norm, [axis])
    least = np.finfo(np.float32).smallest_subnormal
    emit_binary(node, "div", x, binary(node, "max", norm, least), out)


def _infer_skip(node):
    x, last = node.inputs[0], [*node.inputs[0].shape[:-1], 1]
    return [(x.dtype, x.shape), (1, last), (1, last), (x.dtype, x.shape)]


@lowers("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS, infer=_infer_skip)
def lower_skip_layer_normalization(node):
    """Lower to the normalized sum = input + skip (+ bias) over the last axis, and to the sum."""
    node.require_dtype(*FLOATS)
    x, skip, gamma = node.inputs[:3]
    out, mean, deviation, total = [*node.outputs, None, None, None][:4]
    if mean is not None or deviation is not None:
        raise Problem("statistics as outputs", "export the model for inference")
    simplified = node.op == "SkipSimplifiedLayerNormalization"
    beta, bias = (None, node.input(3)) if simplified else (node.input(3), node.input(4))
    total = total or node.temp(x.dtype, x.shape)
    if bias is not None:
        x, skip = binary(node, "add", x, skip), bias
    emit_binary(node, "add", x, skip, total)
    factors = [t for t in (gamma, beta) if t is not None]
    sizes = math.prod(x.shape[:-1]), x.shape[-1]
    emit_normalize(node, total, factors, [out], sizes, not simplified, (1, 0, 1), 1e-12)


@lowers("SimplifiedLayerNormalization", domain=MS, infer=_infer_statistics)
def lower_simplified_layer_normalization(node):
    """Lower RMSNormalization as it was before ONNX's: over all axes from `axis` on."""
    node.require_dtype(*FLOATS)
    x, scale = node.inputs
    _, sizes = _rows(node)
    outputs = node.outputs[:1]
    if any(node.outputs[1:]):
        outputs = [outputs[0], node.temp(x.dtype, (sizes[0],)), node.outputs[1]]
    emit_normalize(node, x, [scale], outputs, sizes, False, (1, 0, 1))
