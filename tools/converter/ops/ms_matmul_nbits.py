"""Lower com.microsoft's MatMulNBits to kernel matmul_nbits.

With g_idx it becomes gemm with dequantized weights.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from . import MS, lowers
from ._dtypes import FLOAT, UINT8
from .gemm import emit_gemm


def _infer(node):
    a = node.inputs[0]
    return [(a.dtype, [*a.shape[:-1], node.attr("N")])]


@lowers("MatMulNBits", domain=MS, infer=_infer)
def lower_matmul_nbits(node):
    """Lower A (.., K) times transposed weights (N, K) plus bias; accuracy_level is ignored."""
    node.require_dtype(FLOAT)
    a, n, k = node.inputs[0], node.attr("N"), node.attr("K")
    bits, size = node.attr("bits", 4), node.attr("block_size")
    if bits not in (2, 4, 8):
        raise Problem(f"{bits} bits", "2, 4 and 8 are supported")
    m, blocks = math.prod(a.shape[:-1]), -(-k // size)
    q = node.const(1, "B").reshape(n, -1)
    if q.dtype != np.uint8 or q.nbytes * 8 != n * blocks * size * bits:
        raise Problem(f"{node.inputs[1]} where packed rows of {blocks * size} elements are needed")
    scales = node.const(2, "scales").reshape(n, blocks).astype(np.float32)
    zeros = _zero_points(node, n, blocks, bits)
    bias = node.const(5, "bias").astype(np.float32).reshape(n) if node.input(5) else None
    if node.input(4) is not None:
        weights = _by_group(node, _unpacked(q, bits)[:, :k], scales, zeros)
        _emit_floats(node, weights, bias, (1, 1, m, n, k))
        return
    arrays = [q, scales, zeros] + ([] if bias is None else [bias])
    node.emit(
        "matmul_nbits",
        [a, *map(node.constant, arrays)],
        node.outputs,
        scratch=[node.temp(UINT8, (blocks * size,)), node.temp(FLOAT, (blocks * size + 1,))],
        macs=m * n * k,
        m=m,
        n=n,
        k=k,
        bits=bits,
        size=size,
        has_bias=bias is not None,
    )


def _by_group(node, q, scales, zeros):
    """Return weights (q - zero point) * scale as float32 (N, K); g_idx has each column's group."""
    group = node.const(4, "g_idx").astype(np.int64)
    return (q.astype(np.float32) - zeros[:, group]) * scales[:, group]


def _emit_floats(node, weights, bias, shape):
    if bias is not None:
        weights = np.concatenate([weights, bias[:, None]], axis=1)
    w = node.constant(weights.astype(np.float32))
    emit_gemm(node, node.inputs[0], w, node.outputs[0], shape, bias is not None, (0, 0, 0, 0))


def _zero_points(node, n, blocks, bits):
    """Return zero points as uint8 or float32 (N, blocks).

    The node has them packed like the weights, or as floats, or not at all, which means the middle
    of the range.
    """
    if node.input(3) is None:
        return np.full((n, blocks), 1 << (bits - 1), np.uint8)
    values = node.const(3, "zero_points")
    if values.dtype != np.uint8:
        return values.reshape(n, blocks).astype(np.float32)
    return np.ascontiguousarray(_unpacked(values.reshape(n, -1), bits)[:, :blocks])


def _unpacked(data, bits):
    """Return the numbers packed in bytes along the last axis, lowest bits first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = data[..., None] >> shifts & ((1 << bits) - 1)
    return parts.reshape(*data.shape[:-1], -1)
