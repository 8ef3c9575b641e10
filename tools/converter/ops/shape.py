"""Lower operators that change only a shape, the name of a dtype, or nothing: no step, no copy."""

from __future__ import annotations

from ..errors import Problem
from ..shapes import extent
from . import lowers
from ._extents import emit_expect


@lowers("Reshape", fixes_shape=(1,), at_run_time=(1,))
def lower_reshape(node):
    x, out = node.inputs[0], node.outputs[0]
    _check(x, out)
    choices = [[d, -1] for d in out.shape]
    for i, d in enumerate(x.shape[: len(choices)]):
        if not node.attr("allowzero", 0) and d == out.shape[i]:
            choices[i].append(0)
    emit_expect(node, 1, choices)
    node.alias(out, x)


@lowers("Squeeze", fixes_shape=(1,))
def lower_squeeze(node):
    """Lower Squeeze. axes is an attribute before opset 13, then an input."""
    axes, x = node.input(1), node.inputs[0]
    if axes is not None and axes.nelem == 0 and 1 in x.shape:
        text = "empty axes: ONNX's rules remove no dim, onnxruntime removes all dims of 1"
        raise Problem(text, "leave axes out, or name the dims to remove")
    lower_alias(node)


@lowers("Unsqueeze", fixes_shape=(1,))
@lowers("Flatten", "Identity")
def lower_alias(node):
    _check(node.inputs[0], node.outputs[0])
    node.alias(node.outputs[0], node.inputs[0])


def _check(x, out):
    if not extent.any_open([*x.shape, *out.shape]) and x.nelem != out.nelem:
        raise Problem(f"{list(x.shape)} cannot become {list(out.shape)}")


@lowers("BitCast")
def lower_bit_cast(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.itemsize != out.itemsize:
        raise Problem("BitCast between dtypes of different size")
    if x.data is not None:
        out.data = x.data.reshape(-1).view(out.np_dtype).reshape(out.shape)
    else:
        out.alias = x
