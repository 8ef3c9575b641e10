"""Expand EmbedLayerNormalization and its quantized form: rows of tables, summed and normalized."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .building import Body, expands

_EPSILON = 1e-12


@expands(
    "EmbedLayerNormalization",
    inputs="input_ids segment_ids word_embedding position_embedding segment_embedding gamma beta "
    "mask position_ids",
    outputs="output mask_index embedding_sum",
    oldest=11,
)
def embed(b: Body):
    """Expand EmbedLayerNormalization of float tables."""
    total = b.add("Gather", "word_embedding", "input_ids", axis=0)
    if b.has("position_ids"):
        positions = b.add("Gather", "position_embedding", "position_ids", axis=0)
    else:
        positions = b.slice("position_embedding", 0, b.extent("input_ids", 1), 0)
    total = b.add("Add", total, positions)
    if b.has("segment_ids"):
        segments = b.add("Gather", "segment_embedding", "segment_ids", axis=0)
        total = b.add("Add", total, segments)
    y = b.normalized(total, "gamma", "beta", b.attr("epsilon", _EPSILON))
    return [y, _mask_index(b), total]


@expands(
    "QEmbedLayerNormalization",
    inputs="input_ids segment_ids word_embedding position_embedding segment_embedding gamma beta "
    "mask word_scale position_scale segment_scale gamma_scale beta_scale word_zero position_zero "
    "segment_zero gamma_zero beta_zero",
    outputs="layernorm_out mask_index_out",
    oldest=11,
)
def quantized_embed(b: Body):
    """Expand QEmbedLayerNormalization: gather rows of bytes, then dequantize them."""
    words = b.add("Gather", "word_embedding", "input_ids", axis=0)
    total = _dequantized(b, words, "word")
    positions = b.slice("position_embedding", 0, b.extent("input_ids", 1), 0)
    total = b.add("Add", total, _dequantized(b, positions, "position"))
    if b.has("segment_ids"):
        segments = b.add("Gather", "segment_embedding", "segment_ids", axis=0)
        total = b.add("Add", total, _dequantized(b, segments, "segment"))
    gamma, beta = (_dequantized(b, name, name) for name in ("gamma", "beta"))
    return [b.normalized(total, gamma, beta, b.attr("epsilon", _EPSILON)), _mask_index(b)]


def _dequantized(b, x, name):
    return b.add("DequantizeLinear", x, f"{name}_scale", b.optional(f"{name}_zero"))


def _mask_index(b):
    """Return the number of ones in each row of the mask, 0 without a mask."""
    if not b.has_output(1):
        return ""
    if not b.has("mask"):
        return b.const(np.zeros(b.extent("input_ids", 0)), TensorProto.INT32)
    counts = b.cast(b.add("Equal", "mask", b.const(1, np.int32)), TensorProto.INT32)
    return b.sum(counts, 1, keepdims=0)
