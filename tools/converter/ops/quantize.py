"""Lower QuantizeLinear and DequantizeLinear to kernel quantize; for bytes to levels and lookup.

com.microsoft's operators have more dtypes at any opset. DynamicQuantizeLinear has its own kernel.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ..errors import Problem
from ..ir import Tensor
from ..steps.overlap import element_leads
from . import MS, lowers
from ._dtypes import FLOAT, UINT8
from ._elementwise import binary, broadcast, emit_binary, runs_of
from ._levels import emit_floats, emit_levels
from ._microsoft import like
from ._select import selected
from .cast import emit_cast

QUANTIZE, DEQUANTIZE = 0, 1
_SHORT = (TensorProto.FLOAT16, TensorProto.BFLOAT16)  # dtypes of scales since opset 19


def _infer_quantize(node):
    x, zero = node.inputs[0], node.input(2)
    return [(UINT8 if zero is None else zero.dtype, x.shape)]


@lowers("QuantizeLinear", domain=MS, infer=_infer_quantize)
@lowers("QuantizeLinear")
def lower_quantize(node):
    """Lower QuantizeLinear. axis exists since opset 13, block_size since opset 21."""
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    scale, zero = _broadcastable(node, x, scale, node.input(2))
    if out.dtype in FLOAT8_AND_LESS:
        quantize_float(node, x, scale, zero, out)
        return
    if scale.dtype in _SHORT:
        x, scale = _as_float(node, x), _as_float(node, scale)
    emit_quantize(node, QUANTIZE, x, scale, zero, out)


@lowers("DequantizeLinear", domain=MS, infer=like(0, dtype_of=1))
@lowers("DequantizeLinear")
def lower_dequantize(node):
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    scale, zero = _broadcastable(node, x, scale, node.input(2))
    if x.dtype in FLOAT8_AND_LESS:
        dequantize_float(node, x, scale, zero, out)
    elif scale.dtype in _SHORT:
        wide = node.temp(FLOAT, out.shape)
        emit_quantize(node, DEQUANTIZE, x, _as_float(node, scale), zero, wide)
        emit_cast(node, wide, out)
    else:
        emit_quantize(node, DEQUANTIZE, x, scale, zero, out)


def emit_quantize(node, op: int, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor):
    """Emit QuantizeLinear or DequantizeLinear.

    Args:
        node: the node to lower.
        op: QUANTIZE or DEQUANTIZE.
        x: the input.
        scale: scales, of a shape that broadcasts to x.
        zero: zero points, likewise, or None.
        out: the output.
    """
    if 0 in out.shape:
        return
    emit_bytes = emit_levels if op == QUANTIZE else emit_floats
    if emit_bytes(node, x, scale, zero, out):
        return
    dims, (x_strides, strides) = broadcast(out.shape, x, scale)
    inputs = [x, scale] if zero is None else [x, scale, zero]
    runs = runs_of(dims, x_strides, strides)
    node.emit("quantize", inputs, [out], over=element_leads(out, [x]), back=op, runs=runs)


def _broadcastable(node, x, scale, zero):
    """Return scale and zero point with shapes that broadcast to x."""
    rank, block = len(x.shape), node.attr("block_size", 0)
    axis = node.attr("axis", 1)
    tensors = [scale, zero]
    if scale.nelem == 1 and not block:
        shape = (1,) * min(rank, 1)
    elif block:
        axis %= rank
        maps = [np.arange(d) for d in scale.shape]
        maps[axis] = np.arange(x.shape[axis]) // block
        shape = x.shape
        if len(scale.shape) != rank or maps[axis].max(initial=0) >= scale.shape[axis]:
            raise Problem(f"{scale} does not fit blocks of {block} of {x}")
        tensors = [t and selected(node, t, maps) for t in tensors]
    else:
        axis %= rank
        shape = (scale.nelem, *[1] * (rank - 1 - axis))
    if zero is not None and zero.nelem != scale.nelem:
        raise Problem(f"{scale} and {zero} differ in length")
    return [t and node.reshaped(t, shape) for t in tensors]


FLOAT8_AND_LESS = (17, 18, 19, 20, 23, 24, 27, 28)


def quantize_float(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> None:
    """Emit out = x / scale + zero for float8, rounded and saturated like a Cast.

    Args:
        node: the node to lower.
        x: the input.
        scale: scales, of a shape that broadcasts to x.
        zero: zero points, likewise, or None.
        out: the output.
    """
    quotient = binary(node, "div", _cast(node, x, scale.dtype), scale)
    if _is_nonzero(zero):
        quotient = binary(node, "add", quotient, _cast(node, zero, scale.dtype))
    emit_cast(node, quotient, out, node.attr("saturate", 1))


def dequantize_float(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> None:
    """Emit out = (x - zero) * scale for float8.

    Args:
        node: the node to lower.
        x: the input.
        scale: scales, of a shape that broadcasts to x.
        zero: zero points, likewise, or None.
        out: the output.
    """
    x = _cast(node, x, scale.dtype)
    if _is_nonzero(zero):
        x = binary(node, "sub", x, _cast(node, zero, scale.dtype))
    emit_binary(node, "mul", x, scale, out)


def _as_float(node, x):
    """Return x in float32, in which the kernels divide and multiply."""
    if x.dtype == FLOAT:
        return x
    return _cast(node, x, FLOAT) if x.data is None else node.constant(x.data.astype(np.float32))


def _is_nonzero(zero):
    """Return False for a zero point that is 0, as nearly all are with floats."""
    return zero is not None and (zero.data is None or zero.data.astype(float).any())


def _cast(node, x, dtype):
    """Return x in another dtype, cast in the run even if it is constant: so weights stay small."""
    out = node.temp(dtype, x.shape)
    emit_cast(node, x, out)
    return out


@lowers("DynamicQuantizeLinear")
def lower_dynamic_quantize(node):
    node.require_dtype(FLOAT)
    x, outputs = node.inputs[0], list(node.outputs)
    cells = node.temp(FLOAT, (3,))
    over = element_leads(outputs[0], [x])
    node.emit("dynamic_quantize", [x], outputs, scratch=[cells], over=over)
