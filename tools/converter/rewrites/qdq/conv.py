"""Replace Conv and ConvTranspose between DQ and Q by operators of integers.

1. DQ -> Conv -> Q, with constant quantized weights and a constant bias (or an Add of a constant
   for each channel), becomes QLinearConv with the bias as int32 in units of x_scale * w_scale.
2. If the bias is no integer to within 1/1000 of a step of the result, or the result is needed
   as float, Conv becomes ConvInteger and ToFloat (see dynamic).
3. DQ -> ConvTranspose -> Q with one or two spatial dims, constant weights, quantized with one
   scale or one for each output channel, and a constant bias becomes
   `mpconnxr:QLinearConvTranspose` (see functions).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from .. import _graph as g
from ._edit import Edit
from ._operands import bias_of, bytes_of, integer_bias, product_scale, result_of, weights_of
from ._values import INT32, StaysFloat, array_of, floats_of, shape_of
from .dynamic import to_float
from .functions import call


def fuse_conv(edit: Edit, node: ir.Node) -> None:
    """Apply rules 1 and 2, or raise StaysFloat."""
    x = bytes_of(node.inputs[0], "its input")
    shape = shape_of(node.inputs[1])
    if shape is None:
        raise StaysFloat("the shape of its weights is not known")
    w = weights_of(edit, node.inputs[1], 0, len(shape))
    last, bias = bias_of(edit, node, shape[0], 1 - len(shape))
    try:
        quantize, y = result_of(last)
        _to_qlinear(edit, node, quantize, x, w, bias, y)
    except StaysFloat:
        _to_integer(edit, node, x, w, bias if last is node else None)


def _to_qlinear(edit, node, quantize, x, w, bias, y):
    """Replace a Conv and the Q behind it by QLinearConv.

    Args:
        edit: the round.
        node: the Conv.
        quantize: the Q.
        x: the quantized input.
        w: the quantized weights.
        bias: float constants, or None.
        y: the quantized result.
    """
    out = quantize.outputs[0].name
    inputs = [value for q in (x, w) for value in edit.operand(q, out)]
    inputs += edit.parameters(y, out)
    if bias is not None:
        step = float(y.scale.reshape(()))
        inputs.append(integer_bias(edit, bias, product_scale(x, w), step))
    edit.replace(quantize, [edit.node("QLinearConv", inputs, node.name, like=node)])


def _to_integer(edit, node, x, w, bias):
    out = node.outputs[0].name
    by_channel = (-1, *[1] * (len(shape_of(node.inputs[1])) - 2))
    sums = edit.new_value(out, INT32, like=node.outputs[0])
    if (w.zero == w.zero.ravel()[:1]).all():  # onnxruntime takes no other
        w = replace(w, zero=w.zero.ravel()[:1])
    zeros = [edit.constant(q.zero.reshape(() if q.zero.size == 1 else -1), out) for q in (x, w)]
    convolve = edit.node("ConvInteger", [x.values, w.values, *zeros], node.name, sums, like=node)
    scale = product_scale(x, w).astype(np.float32)
    scale = scale.reshape(by_channel if scale.size > 1 else ())
    offset = np.zeros(1, np.float32) if bias is None else floats_of(bias)
    if offset is None:
        raise StaysFloat("its bias is not constant")
    constants = [edit.constant(v, out) for v in (scale, offset.reshape(by_channel))]
    edit.replace(node, [convolve, to_float(edit, sums, *constants, out, 1)])


def fuse_conv_transpose(edit: Edit, node: ir.Node) -> None:
    """Apply rule 3, or raise StaysFloat."""
    x, shape = bytes_of(node.inputs[0], "its input"), shape_of(node.inputs[1])
    if shape is None or not 3 <= len(shape) <= 4:
        raise StaysFloat("it has more than two dims, or weights of unknown shape")
    w = weights_of(edit, node.inputs[1], 1, len(shape))
    zeros = set(w.zero.reshape(-1).tolist())
    if array_of(w.values) is None or len(zeros) > 1:
        raise StaysFloat("its weights are not constant, or have several zero points")
    channels = shape[1] * g.attr(node, "group", 1)
    last, bias = bias_of(edit, node, channels, 1 - len(shape))
    quantize, y = result_of(last)
    out, values = quantize.outputs[0].name, np.zeros(channels, np.float32)
    if bias is not None:
        scale = np.resize(product_scale(x, w), channels)
        integer_bias(edit, bias, scale, float(y.scale.reshape(())))  # or it stays float
        values = floats_of(bias).reshape(-1)
    inputs = [value for q in (x, w) for value in edit.operand(q, out)]
    inputs += [*edit.parameters(y, out), edit.constant(values, out)]
    edit.replace(quantize, [call(edit, "QLinearConvTranspose", inputs, node.name, node)])
