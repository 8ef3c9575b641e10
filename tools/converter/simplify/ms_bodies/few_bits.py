"""Expand products with weights in bitsandbytes' 4-bit codes, and gathers from quantized tables."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands

# Values of bitsandbytes' codes, as parts of a block's largest magnitude (from onnxruntime's
# blockwise_quant_block_bnb4.h, which has them from bitsandbytes).
_FP4_HALF = (0, 5.208333333e-03, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25)
_FP4 = np.array([*_FP4_HALF, *(-v for v in _FP4_HALF)], np.float32)
_NF4 = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ],
    np.float32,
)
_BLOCKS = (16, 32, 64, 128, 256)
_INTEGERS = {TensorProto.INT4: np.int8, TensorProto.UINT4: np.uint8}
_FLOATS = (
    TensorProto.FLOAT4E2M1,
    TensorProto.FLOAT8E4M3FN,
    TensorProto.FLOAT8E4M3FNUZ,
    TensorProto.FLOAT8E5M2,
    TensorProto.FLOAT8E5M2FNUZ,
)


@expands("MatMulBnb4", inputs="A B absmax", oldest=11)
def matmul_bnb4(b: Body):
    """Multiply A (.., K) by the transposed weights (N, K), which are unpacked to float32 here.

    Each byte holds two codes, the first one in the high bits; absmax is the largest magnitude of
    each block. Without transB, onnxruntime's CPU provider leaves most of the output unset.
    """
    if not b.attr("transB", 1):
        raise Problem("transB 0, with which onnxruntime leaves most of the output unset")
    n, k, size, kind = (b.attr(name) for name in ("N", "K", "block_size", "quant_type"))
    if kind not in (0, 1):
        raise Problem(f"quant_type {kind}, 0 (FP4) or 1 (NF4) is needed")
    if size not in _BLOCKS:
        raise Problem(f"block_size {size}, one of {_BLOCKS} is needed")
    packed, largest = _constant(b, "B").ravel(), _constant(b, "absmax").ravel()
    if n < 1 or k < 1 or packed.size * 2 < n * k or largest.size * size < n * k:
        raise Problem(
            f"B of {packed.size} bytes, absmax of {largest.size}: N {n}, K {k} do not fit"
        )
    codes = np.stack([packed >> 4, packed & 15], -1).ravel()[: n * k]
    blocks = np.arange(n * k) // size
    values = (_NF4 if kind else _FP4)[codes] * largest[blocks].astype(np.float32)
    return b.add("MatMul", "A", b.const(values.reshape(n, k).T))


@expands("GatherBlockQuantized", inputs="data indices scales zero_points", oldest=13)
def gather_block_quantized(b: Body):
    """Gather elements of a table, then dequantize them: (data - zero point) * scale.

    A scale serves block_size elements along quantize_axis. An index out of range gives zeros.
    """
    table = _Table(b)
    axis, extent = table.axis, table.data.shape[table.axis]
    index, is_out = _indices(b, extent)
    y = b.cast(b.add("Gather", b.const(table.data), index, axis=axis))
    if table.zeros is not None:
        y = b.add("Sub", y, b.cast(table.spread(table.zeros, index)))
    y = b.add("Mul", y, b.cast(table.spread(table.scales, index)))
    indices = b.rank("indices")
    behind = range(indices, indices + table.data.ndim - 1 - axis)
    wide = b.unsqueeze(is_out, *behind) if behind else is_out
    return b.narrow(b.add("Where", wide, b.const(0), y), "scales")


def _indices(b, extent):
    """Return indices from 0 on, with 0 for those out of range; and True for those out of range."""
    zero = b.const(0, np.int64)
    index = b.cast("indices", TensorProto.INT64)
    from_end = b.add("Add", index, b.const(extent, np.int64))
    index = b.add("Where", b.add("Less", index, zero), from_end, index)
    exceeds = b.add("Greater", index, b.const(extent - 1, np.int64))
    is_out = b.add("Or", b.add("Less", index, zero), exceeds)
    return b.add("Where", is_out, zero, index), is_out


class _Table:
    """A quantized table that GatherBlockQuantized reads.

    Attributes:
        data: one number for each element.
        scales: one scale for each block.
        zeros: zero points: one for each block, one for all, or None.
        axis: axis along which elements are gathered.
        blocked: axis along which elements form blocks.
        size: elements of a block.
    """

    def __init__(self, b: Body):
        self.b = b
        self.data, self.zeros = _contents(b)
        self.scales = _constant(b, "scales")
        self.axis = self._axis("gather_axis", 0)
        self.blocked = self._axis("quantize_axis", 1)
        size = b.attr("block_size", 128)
        if size < 0 or not size and b.dtype("data") not in _FLOATS:
            raise Problem(f"block_size {size}")
        self.size = size or self.data.shape[self.blocked]
        self._check(b)

    def _axis(self, name, default):
        axis, rank = self.b.attr(name, default), self.data.ndim
        if not -rank <= axis < rank:
            raise Problem(f"{name} {axis} of data of rank {rank}")
        return axis % rank

    def _check(self, b):
        """Check the shapes of scales and zero points; scales of floats may be 1 along any axis."""
        actual, expected = self.scales.shape, list(self.data.shape)
        expected[self.blocked] = -(-expected[self.blocked] // self.size)
        pairs = list(zip(actual, expected, strict=False))
        is_float = b.dtype("data") in _FLOATS
        if len(actual) != len(expected) or any(
            g != w and not (is_float and g == 1) for g, w in pairs
        ):
            raise Problem(f"scales of shape {[*actual]} where {expected} is needed")
        zeros = actual if self.zeros is None or not self.zeros.ndim else self.zeros.shape
        if zeros[:-1] != actual[:-1] or zeros[-1] < actual[-1]:  # the last byte may have gaps
            raise Problem(f"zero points of shape {[*zeros]} for scales of {[*actual]}")

    def spread(self, blocks, index):
        """Return the scale or zero point of each gathered element, from one per block."""
        b, axis, blocked = self.b, self.axis, self.blocked
        if blocks.ndim == 0:
            return b.const(blocks)
        indices = b.rank("indices")
        if axis == blocked:
            block = b.add("Div", index, b.const(self.size, np.int64))
            return b.add("Gather", b.const(blocks), block, axis=axis)
        if blocks.shape[axis] == 1 != self.data.shape[axis]:
            shape = blocks.shape[:axis] + (1,) * indices + blocks.shape[axis + 1 :]
            taken = b.const(blocks.reshape(shape))
        else:
            taken = b.add("Gather", b.const(blocks), index, axis=axis)
        block_numbers = np.arange(self.data.shape[blocked]) // self.size
        behind = blocked + (indices - 1 if blocked > axis else 0)
        return b.add("Gather", taken, b.const(block_numbers), axis=behind)


def _contents(b):
    """Return the data with one number per element, and their zero points or None."""
    data, dtype = _constant(b, "data"), b.dtype("data")
    zeros = _constant(b, "zero_points") if b.has("zero_points") else None
    if dtype in _FLOATS and zeros is None:
        return data.astype(np.float32), None
    if dtype in _INTEGERS:
        narrow = _INTEGERS[dtype]
        return data.astype(narrow), None if zeros is None else zeros.astype(narrow)
    bits = b.attr("bits", 4)
    if dtype != TensorProto.UINT8 or bits not in (2, 4, 8) or not data.ndim:
        raise Problem(f"data of dtype {data.dtype}, bits {bits}, rank {data.ndim}")
    if zeros is None:
        return _unpacked(data, bits), np.uint8(1 << (bits - 1))
    return _unpacked(data, bits), _unpacked(zeros, bits)


def _unpacked(data, bits):
    """Unpack numbers from bytes along the last axis, the lowest bits first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = data[..., None] >> shifts & np.uint8((1 << bits) - 1)
    return parts.reshape(*data.shape[:-1], -1)


def _constant(b, name):
    value = b.known(name)
    if value is None:
        raise Problem(f"{name} is not a constant")
    return value
