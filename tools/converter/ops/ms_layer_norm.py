"""com.microsoft's layer normalizations, with a skipped connection -> kernel normalize."""

from __future__ import annotations

import math

from ..errors import Problem
from . import lowers
from ._elementwise import emit_binary
from ._microsoft import MS
from .layer_norm import FLOATS, emit_normalize


def _infer_skip(node):
    x, last = node.inputs[0], [*node.inputs[0].shape[:-1], 1]
    return [(x.dtype, x.shape), (1, last), (1, last), (x.dtype, x.shape)]


@lowers("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS, infer=_infer_skip)
def lower_skip_layer_normalization(node):
    """The normalized sum = input + skip (+ bias), over the last axis; sum is an output, too."""
    node.require_dtype(*FLOATS)
    x, skip, gamma = node.inputs[:3]
    out, mean, deviation, total = [*node.outputs, None, None, None][:4]
    if mean is not None or deviation is not None:
        raise Problem("statistics as outputs", "export the model for inference")
    simplified = node.op == "SkipSimplifiedLayerNormalization"
    beta, bias = (None, node.input(3)) if simplified else (node.input(3), node.input(4))
    total = total or node.temp(x.dtype, x.shape)
    first = total if bias is None else node.temp(x.dtype, x.shape)
    emit_binary(node, "add", x, skip, first)
    if bias is not None:
        emit_binary(node, "add", first, bias, total)
    factors = [t for t in (gamma, beta) if t is not None]
    sizes = math.prod(x.shape[:-1]), x.shape[-1]
    emit_normalize(node, total, factors, [out], sizes, not simplified, (1, 0, 1), 1e-12)


def _infer_simplified(node):
    x = node.inputs[0]
    axis = node.attr("axis", -1) % max(len(x.shape), 1)
    return [(x.dtype, x.shape), (1, [*x.shape[:axis], *[1] * len(x.shape[axis:])])]


@lowers("SimplifiedLayerNormalization", domain=MS, infer=_infer_simplified)
def lower_simplified_layer_normalization(node):
    """RMSNormalization, before ONNX had it: over all axes from `axis` on."""
    node.require_dtype(*FLOATS)
    x, scale = node.inputs
    axis = node.attr("axis", -1) % max(len(x.shape), 1)
    sizes = math.prod(x.shape[:axis]), math.prod(x.shape[axis:])
    outputs = node.outputs[:1]
    if any(node.outputs[1:]):
        outputs = [outputs[0], node.temp(x.dtype, (sizes[0],)), node.outputs[1]]
    emit_normalize(node, x, [scale], outputs, sizes, False, (1, 0, 1))
