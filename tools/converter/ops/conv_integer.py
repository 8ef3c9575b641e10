"""ConvInteger and QLinearConv -> kernel conv, in int32."""

from __future__ import annotations

from . import lowers
from ._integer import INT32, as_dtype, centred, combined
from .conv import emit_conv_of
from .matmul_integer import emit_requantize


@lowers("ConvInteger")
def lower_conv_integer(node):
    """Centred first, so that the padding's zeros mean zero."""
    x, w = node.inputs[:2]
    centred_x = centred(node, x, node.input(2))
    emit_conv_of(node, centred_x, _centred_weights(node, w, node.input(3)), None, node.outputs[0])


@lowers("QLinearConv")
def lower_qlinear_conv(node):
    """The convolution's integers, times x_scale * w_scale, quantized by y_scale."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = node.inputs[:8]
    bias = node.input(8)
    out = node.outputs[0]
    product = node.temp(INT32, out.shape)
    weights = _centred_weights(node, w, w_zero)
    bias = bias and as_dtype(node, bias, INT32)
    emit_conv_of(node, centred(node, x, x_zero), weights, bias, product)
    scale = combined(
        node, "mul", node.reshaped(x_scale, (1,)), node.reshaped(w_scale, (w_scale.nelem,))
    )
    by_channel = (scale.nelem, *[1] * (len(out.shape) - 2)) if scale.nelem > 1 else (1,)
    emit_requantize(node, product, node.reshaped(scale, by_channel), y_scale, y_zero)


def _centred_weights(node, w, zero):
    by_channel = zero is not None and zero.nelem > 1
    shape = (zero.nelem, *[1] * (len(w.shape) - 1)) if by_channel else None
    return centred(node, w, zero, shape)
