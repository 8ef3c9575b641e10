"""LayerNormalization and its relatives -> kernel normalize; others by reduce and binary."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from ..steps.overlap import line_by_line
from . import lowers
from ._elementwise import broadcast, emit_binary, float_bits
from ._extents import matched
from ._microsoft import like
from ._move import emit_move, strides_of
from .lookup import OWN
from .reduce import emit_reduce

FLOATS = (1, 11)
_MEAN, _NORM = 1, 8  # of kernel reduce


@lowers("LayerNormalization", domain=OWN, infer=like(0))
@lowers("LayerNormalization", "RMSNormalization")
def lower_layer_normalization(node):
    """Over all axes from `axis` on; scale and bias broadcast to these."""
    node.require_dtype(*FLOATS)
    x = node.inputs[0]
    axis = node.attr("axis", -1) % max(len(x.shape), 1)
    kept = x.shape[axis:]
    factors = [_spread(node, t, kept) for t in node.inputs[1:] if t is not None]
    centred = int(node.op == "LayerNormalization")
    sizes = math.prod(x.shape[:axis]), math.prod(kept)
    _emit_normalize(node, factors, sizes, centred, (1, 0, 1))


@lowers("InstanceNormalization", "GroupNormalization")
def lower_group_normalization(node):
    """Scale and bias are one value a channel; for GroupNormalization 18 one a group."""
    node.require_dtype(*FLOATS)
    x = node.inputs[0]
    n, channels = x.shape[:2]
    groups = node.attr("num_groups", channels)
    items = math.prod(x.shape[2:])
    a_group = channels // max(groups, 1)
    spread = (max(groups, 1), a_group, max(items, 1))
    if node.op == "GroupNormalization" and node.opset < 21:
        spread = (max(groups, 1), 1, max(items * a_group, 1))
    _emit_normalize(node, node.inputs[1:3], (n * groups, a_group * items), 1, spread)


def _emit_normalize(node, factors, sizes, centred, spread):
    """Sizes: rows, items a row; spread: period, step, block of scale and bias (see the kernel)."""
    x, outputs = node.inputs[0], node.outputs[:1]
    if any(node.outputs[1:]):
        statistics = [*node.outputs[1:], None, None][:2]
        outputs = outputs + [t or node.temp(x.dtype, (sizes[0],)) for t in statistics]
    emit_normalize(node, x, factors, outputs, sizes, centred, spread)


def emit_normalize(node, x, factors, outputs, sizes, centred, spread, default_epsilon=1e-5):
    """One call of the kernel, with the node's epsilon."""
    epsilon = float_bits(node.attr("epsilon", default_epsilon))
    params = {"lines": sizes[0], "n": sizes[1], "centred": int(centred), "epsilon": epsilon}
    params |= dict(zip(("period", "step", "width"), spread, strict=True))
    over = line_by_line(outputs[0], x, sizes[1], 1)
    node.emit("normalize", [x, *factors], outputs, over=over, **params)


def _spread(node, t: Tensor, shape):
    """t broadcast to shape."""
    if t.nelem == math.prod(shape):
        return t
    if t.data is not None:
        return node.constant(np.broadcast_to(t.data, shape))
    out = node.temp(t.dtype, shape)
    t = matched(node, t, shape)
    dims, (strides,) = broadcast(shape, t)
    emit_move(node.emit, t, out, dims, strides, strides_of(dims))
    return out


@lowers("MeanVarianceNormalization")
def lower_mean_variance_normalization(node):
    """(x - mean) / (deviation + 1e-9), the deviation from the centred values.

    Centred twice: a large mean is rounded to more than the digits that are wanted of x - mean.
    """
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    axes = [a % len(x.shape) for a in node.attr("axes", [0, 2, 3])]
    kept = [1 if a in axes else d for a, d in enumerate(x.shape)]
    n = math.prod(x.shape) // max(math.prod(kept), 1)
    norm, root, deviation = (node.temp(x.dtype, kept) for _ in range(3))
    centred = x
    for _ in range(2):
        mean, shifted = node.temp(x.dtype, kept), node.temp(x.dtype, x.shape)
        emit_reduce(node, _MEAN, 0, centred, mean, axes)
        emit_binary(node, "sub", centred, mean, shifted)
        centred = shifted
    emit_reduce(node, _NORM, 2, centred, norm, axes)
    emit_binary(node, "div", norm, node.constant(np.sqrt(n).astype(x.np_dtype)), root)
    emit_binary(node, "add", root, node.constant(np.asarray(1e-9, x.np_dtype)), deviation)
    emit_binary(node, "div", centred, deviation, out)


@lowers("LpNormalization")
def lower_lp_normalization(node):
    """x / (its p-norm along an axis); where all is 0 it stays 0."""
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    axis = node.attr("axis", -1) % len(x.shape)
    kept = [1 if a == axis else d for a, d in enumerate(x.shape)]
    norm, divisor = node.temp(x.dtype, kept), node.temp(x.dtype, kept)
    emit_reduce(node, _NORM, node.attr("p", 2), x, norm, [axis])
    least = node.constant(np.asarray(np.finfo(np.float32).smallest_subnormal, x.np_dtype))
    emit_binary(node, "max", norm, least, divisor)
    emit_binary(node, "div", x, divisor, out)
