"""com.microsoft's MatMulNBits -> kernel gemm, on weights that are dequantized at conversion."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from . import lowers
from ._microsoft import FLOAT, MS
from .gemm import emit_gemm


def _infer(node):
    a = node.inputs[0]
    return [(a.dtype, [*a.shape[:-1], node.attr("N")])]


@lowers("MatMulNBits", domain=MS, infer=_infer)
def lower_matmul_nbits(node):
    """A (.., K) times the transposed weights (N, K), plus bias; accuracy_level is ignored."""
    node.require_dtype(FLOAT)
    a, bias = node.inputs[0], node.input(5)
    n, k = node.attr("N"), node.attr("K")
    weights = _weights(node, n, k)
    if bias is not None:
        values = node.const(5, "bias").reshape(n, 1)
        weights = np.concatenate([weights, values.astype(np.float32)], axis=1)
    shape = (1, 1, math.prod(a.shape[:-1]), n, k)
    w = node.constant(weights)
    emit_gemm(node, a, w, node.outputs[0], shape, bias is not None, (0, 0, 0, 0))


def _weights(node, n, k):
    """(q - zero point) * scale as float32 (N, K), by blocks of K or by the groups of g_idx."""
    bits, size = node.attr("bits", 4), node.attr("block_size")
    if bits not in (2, 4, 8):
        raise Problem(f"{bits} bits", "2, 4 and 8 are supported")
    blocks = -(-k // size)
    q = _unpacked(node.const(1, "B").reshape(n, blocks, -1), bits).reshape(n, -1)[:, :k]
    scales = node.const(2, "scales").reshape(n, blocks).astype(np.float32)
    zeros = _zero_points(node, n, blocks, bits)
    group = np.arange(k) // size
    if node.input(4) is not None:
        group = node.const(4, "g_idx").astype(np.int64)
    return (q - zeros[:, group]) * scales[:, group]


def _zero_points(node, n, blocks, bits):
    """As float32 (N, blocks): packed like the weights, or given as floats, or the middle."""
    if node.input(3) is None:
        return np.full((n, blocks), 1 << (bits - 1), np.float32)
    values = node.const(3, "zero_points")
    if values.dtype == np.uint8:
        values = _unpacked(values.reshape(n, -1), bits)[:, :blocks]
    return values.reshape(n, blocks).astype(np.float32)


def _unpacked(data, bits):
    """The numbers in bytes, the lowest bits first, along the last axis; as float32."""
    if data.dtype != np.uint8:
        raise Problem(f"packed weights of dtype {data.dtype}")
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = data[..., None] >> shifts & ((1 << bits) - 1)
    return parts.reshape(*data.shape[:-1], -1).astype(np.float32)
