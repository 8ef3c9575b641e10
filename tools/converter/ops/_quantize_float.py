"""QuantizeLinear to float8 and float4, and back, by kernels binary and cast."""

from __future__ import annotations

from ..ir import Tensor
from ._elementwise import emit_binary
from .cast import emit_cast

FLOAT8_AND_LESS = (17, 18, 19, 20, 23, 24, 27, 28)


def quantize_float(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> None:
    """out = x / scale + zero, rounded and saturated as by Cast; scale and zero broadcast to x."""
    quotient = node.temp(scale.dtype, out.shape)
    emit_binary(node, "div", _cast(node, x, scale.dtype), scale, quotient)
    if _matters(zero):
        total = node.temp(scale.dtype, out.shape)
        emit_binary(node, "add", quotient, _cast(node, zero, scale.dtype), total)
        quotient = total
    emit_cast(node, quotient, out, node.attr("saturate", 1))


def dequantize_float(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> None:
    """out = (x - zero) * scale."""
    x = _cast(node, x, scale.dtype)
    if _matters(zero):
        difference = node.temp(scale.dtype, out.shape)
        emit_binary(node, "sub", x, _cast(node, zero, scale.dtype), difference)
        x = difference
    emit_binary(node, "mul", x, scale, out)


def _matters(zero):
    """False for a zero point that is 0, as it nearly always is with floats."""
    return zero is not None and (zero.data is None or zero.data.astype(float).any())


def _cast(node, x, dtype):
    """x in another dtype, at run time also where it is constant: so weights stay small."""
    out = node.temp(dtype, x.shape)
    emit_cast(node, x, out)
    return out
