"""Merge the scaling of an integer product whose scale a run decides into one operator.

1. MatMulInteger or ConvInteger -> Cast -> Mul by a scale (one, or one for each output channel)
   becomes `mpconnxr:ToFloat`. An Add of constants by channel behind it becomes its offset.
2. A Mul of DynamicQuantizeLinear's scale by constants, whose result is such a scale, becomes
   `mpconnxr:Scale`.

Both are operators of this project (see functions): x * scale + offset, with `axis` for the
channels, and x * w.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from .. import _graph as g
from ._edit import Edit
from ._values import FLOAT, array_of, dtype_of, floats_of, shape_of, sole_reader
from .functions import call

_PRODUCTS = {"ConvInteger": 1, "MatMulInteger": -1}  # axis of the channels


def scale_products(edit: Edit) -> bool:
    """Apply the rules to every product, and return True if one did anything."""
    products = [node for node in edit.graph if g.is_op(node, *_PRODUCTS)]
    changed = [_scale(edit, node) for node in products]
    return any(changed)


def _scale(edit, product):
    cast = _only_reader(product, "Cast")
    multiply = cast and _only_reader(cast, "Mul")
    shape = shape_of(product.outputs[0])
    if not multiply or not shape or g.attr(cast, "to") != FLOAT:
        return False
    axis = _PRODUCTS[product.op_type] % len(shape)
    scale = _other(multiply, cast)
    if not _is_by_channel(scale, shape, axis):
        return False
    last, offset = multiply, edit.constant(np.float32(0), multiply.outputs[0].name)
    add = _only_reader(multiply, "Add")
    if add and floats_of(_other(add, multiply)) is not None:
        other = _other(add, multiply)
        if _is_by_channel(other, shape, axis):
            last, offset = add, other
    scale = _name_scale(edit, scale)
    out = last.outputs[0].name
    edit.replace(last, [to_float(edit, product.outputs[0], scale, offset, out, axis)])
    return True


def _name_scale(edit, scale):
    """Apply rule 2, so that a board computes the scale without float arithmetic.

    Returns:
        The scale, which another node may compute now.
    """
    node = scale.producer()
    if not g.is_op(node, "Mul"):
        return scale
    for x, w in (tuple(node.inputs), tuple(node.inputs)[::-1]):
        source, values = x.producer(), array_of(w)
        is_scale = g.is_op(source, "DynamicQuantizeLinear") and x is source.outputs[1]
        if is_scale and values is not None and np.isfinite(values).all():
            new = call(edit, "Scale", [x, w], edit.new_name(scale.name))
            edit.replace(node, [new])
            return new.outputs[0]
    return scale


def to_float(
    edit: Edit, x: ir.Value, scale: ir.Value, offset: ir.Value, hint: str, axis: int
) -> ir.Node:
    """Return the node that computes x * scale + offset.

    Args:
        edit: the round.
        x: integers.
        scale: one number, or one for each channel.
        offset: one number, or one for each channel.
        hint: beginning of its name.
        axis: axis of the channels.
    """
    return call(edit, "ToFloat", [x, scale, offset], edit.new_name(hint), axis=axis)


def _only_reader(node, op):
    reader = sole_reader(node.outputs[0])
    return reader if g.is_op(reader, op) else None


def _other(node: ir.Node, first: ir.Node) -> ir.Value:
    a, b = node.inputs
    return b if a is first.outputs[0] else a


def _is_by_channel(value, shape, axis):
    """Return True for a float, or one for each index of an axis; the result keeps its shape."""
    own = shape_of(value)
    if own is None or dtype_of(value) != FLOAT or len(own) > len(shape):
        return False
    behind = len(shape) - 1 - axis
    is_channels = own[len(own) - 1 - behind : len(own) - behind] == [shape[axis]]
    return math.prod(own) == 1 or (is_channels and math.prod(own) == shape[axis])
