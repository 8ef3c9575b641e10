"""Lower ConvInteger and QLinearConv to kernel qconv, or to conv in int32.

A convolution in three dimensions becomes one in two for each z of the output, over the planes that
its window reads there: they are copied side by side, as further channels.
"""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._dtypes import INT32
from ._integer import as_dtype, centred, combined
from ._move import emit_fill, emit_move, strides_of
from ._qdot import emit_requantized, emit_sums, product_scales
from ._qweights import Geometry, Weights, scalar, unsigned
from ._windows import windows_of
from .conv import emit_conv_of
from .matmul_integer import emit_requantize


@lowers("ConvInteger")
def lower_conv_integer(node):
    """Lower ConvInteger. For conv, x is centred first, so that padding means the zero point."""
    x, w, x_zero = node.inputs[0], node.inputs[1], node.input(2)
    if _lower_known_integer(node):
        return
    centred_x = centred(node, x, x_zero)
    emit_conv_of(node, centred_x, _centred_weights(node, w, node.input(3)), None, node.outputs[0])


def _lower_known_integer(node) -> bool:
    x, w, x_zero = node.inputs[0], node.inputs[1], node.input(2)
    weights = _weights(w, node.input(3))
    if weights is None or not _is_planar_input(x) or (x_zero is not None and x_zero.nelem != 1):
        return False
    x, geometry = _planar(node, x_zero)
    return emit_sums(node, x, weights, geometry, x_zero, node.outputs[0])


@lowers("QLinearConv")
def lower_qlinear_conv(node):
    """Lower QLinearConv: integer sums times x_scale * w_scale / y_scale."""
    if _lower_known(node):
        return
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


def _lower_known(node) -> bool:
    """Lower to qconv if scales, zero points, weights and bias are known; else return False."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = node.inputs[:8]
    zeros = scalar(x_zero), scalar(y_zero)
    weights = _weights(w, w_zero, node.input(8))
    scales = scalar(x_scale), w_scale.data, scalar(y_scale)
    if weights is None or not _is_planar_input(x) or any(v is None for v in (*zeros, *scales)):
        return False
    exact = product_scales(*scales)
    x, geometry = _planar(node, x_zero)
    return emit_requantized(node, x, weights, geometry, zeros[0], exact, node.outputs[0], zeros[1])


def _weights(w: Tensor, zero: Tensor | None, bias: Tensor | None = None) -> Weights | None:
    """Return the weights, or None if they are unknown or their zero points differ."""
    w_zero = scalar(zero)
    if w.data is None or w_zero is None or (bias is not None and bias.data is None):
        return None
    rows = unsigned(w.data).reshape(w.shape[0], -1)
    shift = int(w.data.dtype == np.int8) * 128
    summand = np.zeros(1, np.int64) if bias is None else bias.data.astype(np.int64)
    return Weights(rows, w_zero + shift, summand)


def _is_planar_input(x: Tensor) -> bool:
    """Return True for bytes in one or two dimensions, or three of a single image."""
    deep = len(x.shape) == 5 and x.shape[0] == 1 and not any_open(x.shape)
    return x.itemsize == 1 and (deep or 3 <= len(x.shape) <= 4)


def _planar(node, zero: Tensor | None) -> tuple[Tensor, Geometry]:
    """Return the node's input, and the convolution in at most two dimensions that it becomes."""
    x, out = node.inputs[0], node.outputs[0]
    if len(x.shape) < 5:
        return x, geometry_of(node)
    w = next(t for t in node.inputs[1:] if len(t.shape) == 5)
    windows, groups = windows_of(node, w.shape[2:], out.shape), node.attr("group", 1)
    (d, h, width), (kd, kh, kw), (od, oh, ow) = windows.in_dims, windows.kernel, windows.out_dims
    channels, m = x.shape[1], out.shape[1]
    plane, positions, depth = h * width, oh * ow, windows.pads[0] + d + windows.end_pads[0]
    x = _padded_depth(node, x, zero, windows.pads[0], depth)
    planes_read = node.temp(x.dtype, (od, channels, kd, h, width))
    steps = [windows.strides[0] * plane, depth * plane, windows.dilations[0] * plane, 1]
    dims = (od, channels, kd, plane)
    emit_move(node.emit, x, planes_read, dims, steps, strides_of(dims))
    c = channels // groups * kd
    return planes_read, Geometry(
        [od, groups, c, h, width, m // groups, kh, kw, oh, ow],
        [channels * kd * plane, c * plane, plane, width, 1],
        [positions, m // groups * od * positions, od * positions, 1],
        windows.strides[1:],
        windows.dilations[1:],
        windows.pads[1:],
    )


def _padded_depth(node, x: Tensor, zero: Tensor | None, first: int, depth: int) -> Tensor:
    """Return x with planes of its zero point added in front and behind.

    Args:
        node: the node to lower.
        x: bytes (1, C, D, H, W).
        zero: its zero point, or None for 0.
        first: number of planes in front.
        depth: number of planes in all.
    """
    _, channels, d, h, width = x.shape
    if depth == d:
        return x
    padded = node.temp(x.dtype, (1, channels, depth, h, width))
    emit_fill(node, zero or node.constant(np.zeros(1, x.np_dtype)), padded)
    dims, plane = (channels, d * h * width), h * width
    emit_move(node.emit, x, padded, dims, (d * plane, 1), (depth * plane, 1), 0, first * plane)
    return padded


def geometry_of(node) -> Geometry:
    """Return the geometry of a convolution with all tensors in C order.

    Raises:
        ValueError: if the channels do not match the weights.
    """
    x, out = node.inputs[0], node.outputs[0]
    w = next(t for t in node.inputs[1:] if len(t.shape) == len(x.shape))
    windows = windows_of(node, w.shape[2:], out.shape)
    groups, (n, m) = node.attr("group", 1), out.shape[:2]
    c = w.shape[1]
    if c * groups != x.shape[1]:
        raise ValueError("channels are not a multiple of group")
    (_, h, width), (_, kh, kw), (_, oh, ow) = windows.in_dims, windows.kernel, windows.out_dims
    plane, positions = h * width, oh * ow
    return Geometry(
        [n, groups, c, h, width, m // groups, kh, kw, oh, ow],
        [strides_of(x.shape)[0], c * plane, plane, width, 1],
        [m * positions, m // groups * positions, positions, 1],
        windows.strides[1:],
        windows.dilations[1:],
        windows.pads[1:],
    )


def _centred_weights(node, w, zero):
    by_channel = zero is not None and zero.nelem > 1
    shape = (zero.nelem, *[1] * (len(w.shape) - 1)) if by_channel else None
    return centred(node, w, zero, shape)
