"""Add what a quantizer adds to a graph: scales, QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from .builder import Builder

BYTES = (np.int8, np.uint8)
WIDE = (np.int16, np.uint16)


class Scale:
    """A scale and zero point; few sums of integers are halfway between two integers."""

    def __init__(self, b: Builder, dtype, scale=None, zero=None):
        ends = np.iinfo(dtype)
        self.dtype = np.dtype(dtype)
        self.scale = np.float32(scale or b.choice(0.031007, 0.017003, 0.050021, 0.007919))
        kinds = (0, ends.min, ends.max, *b.integers(ends.min // 2, ends.max // 2, 3))
        kinds = [k for k in kinds if ends.min <= k <= ends.max]
        if ends.bits == 16:
            kinds = [0] if ends.min else [32768, 32768, 0]
            self.scale /= np.float32(64)
        self.zero = np.asarray(b.choice(*kinds) if zero is None else zero, dtype)

    def parameters(self, b: Builder):
        """Return scale and zero point: mostly constants, the zero point at times omitted."""
        if b.chance(0.01):
            return [b.op("Abs", b.input([])), self.zero]
        own = b.choice((), (), (), (1,)) if b.opset >= 13 else ()
        zero = (
            None
            if self.zero == 0 and self.dtype == np.uint8 and b.chance(0.3)
            else self.zero.reshape(own)
        )
        return [np.asarray(self.scale).reshape(own), zero]


def q(b: Builder, x: str, s: Scale) -> str:
    return b.op("QuantizeLinear", x, *s.parameters(b))


def dq(b: Builder, x: str, s: Scale) -> str:
    return b.op("DequantizeLinear", x, *s.parameters(b))


def dtype_of(b: Builder):
    return b.choice(*BYTES)


def real(b: Builder, shape, s: Scale, before: bool = True) -> str:
    """Return floats dequantized from integers.

    Args:
        b: the builder.
        shape: shape of the value.
        s: its Scale.
        before: at times the integers come from quantized floats, or a Transpose moves them.
    """
    kind = (
        b.choice("integers", "integers", "integers", "floats", "moved") if before else "integers"
    )
    if kind == "floats":
        return dq(b, q(b, b.input(shape), s), s)
    if kind == "moved" and len(shape):
        perm = b.order(len(shape))
        x = b.input([shape[perm.index(a)] for a in range(len(shape))], s.dtype)
        if b.chance(0.5):
            return b.transpose(dq(b, x, s), perm)
        return dq(b, b.transpose(x, perm), s)
    return dq(b, b.input(shape, s.dtype), s)


def weights(b: Builder, shape, axis: int, scale: float = 0.01, dtype=None) -> str:
    """Return dequantized constant weights.

    Args:
        b: the builder.
        shape: shape of the weights.
        axis: axis of the channels, which may have a scale each.
        scale: scales are 0.5 to 1.5 times this.
        dtype: dtype of the integers; None for int8 or uint8.
    """
    dtype = dtype or b.choice(np.int8, np.int8, np.uint8)
    n = shape[axis]
    by_channel = b.opset >= 13 and b.chance(0.5)
    own = (n,) if by_channel else ()
    scales = (scale * b.rng.uniform(0.5, 1.5, own)).astype(np.float32)
    middle = 128 if dtype == np.uint8 else 0
    zeros = np.full(own, middle + b.choice(0, 0, 0, 5), dtype)
    if by_channel and b.chance(0.1):
        zeros = (zeros + b.rng.integers(0, 4, own)).astype(dtype)
    low = 0 if dtype == np.uint8 else -127
    values = b.rng.integers(low, low + 254, shape, endpoint=True).astype(dtype)
    attributes = {"axis": b.axis(axis, len(shape))} if by_channel else {}
    if b.chance(0.1):
        floats = (values.astype(np.float32) - middle) * scale
        y = b.op("QuantizeLinear", floats, scales, zeros, **attributes)
        return b.op("DequantizeLinear", y, scales, zeros, **attributes)
    return b.op("DequantizeLinear", values, scales, zeros, **attributes)


def bias(b: Builder, shape, size: float = 1.0):
    """Return a bias of floats; quantizers write integers, see integer_bias."""
    return b.randn(*shape, scale=size)


def integer_bias(b: Builder, n: int, x: Scale, w: str):
    """Return a dequantized int32 bias of n channels, with the scale of products of x and w."""
    maker = next(node for node in b.nodes if w in node.output)
    scale = numpy_helper.to_array(b.constants[maker.input[1]]) * x.scale
    values = b.rng.integers(-2000, 2000, n).astype(np.int32)
    attributes = {"axis": 0} if b.opset >= 13 and scale.ndim else {}
    zeros = np.zeros(scale.shape, np.int32)
    return b.op("DequantizeLinear", values, scale, zeros, **attributes)


def ending(b: Builder, y: str, s: Scale, share: float = 0.85) -> None:
    """Add an activation at times, then a quantized output, and at times readers of the floats.

    Args:
        b: the builder.
        y: the result of the layer.
        s: Scale of the output.
        share: how often the output is quantized.
    """
    if b.chance(0.25):
        y = (
            b.op("Relu", y)
            if b.chance(0.5)
            else b.op("Clip", y, np.float32(0), np.float32(b.choice(1, 6)))
        )
    if not b.chance(share):
        b.op("Identity", y)
        return
    y = q(b, y, s)
    if b.chance(0.3):
        y = dq(b, y, s)
        kind = b.choice("float", "reshape", "transpose", "slice")
        rank = len(b.shape(y))
        if kind == "reshape":
            y = b.reshape(y, *b.regrouped(b.shape(y)))
        elif kind == "transpose" and rank:
            y = b.transpose(y, b.order(rank))
        elif kind == "slice" and rank:
            y = b.slice(y, rank - 1, 0, max(1, b.shape(y)[-1] - 1))
        if kind != "float" and b.chance(0.8):
            y = q(b, y, s)
