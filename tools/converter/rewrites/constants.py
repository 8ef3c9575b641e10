"""Merge constant factors and summands into neighbouring weights, or into each other.

1. A Mul, Add, Sub, Div or Neg that alone reads a Conv, ConvTranspose, Gemm or MatMul, with a
   constant that varies by channel at most, is merged into its weights and bias. Between Gemm and
   the node may be a Reshape that keeps the last dim.
2. Such a node in front of a layer is merged into the layer's weights, if the summand reaches every
   output alike (see batch_norm), and the factors are of similar size: features in different units,
   which pipelines of scikit-learn scale first, would share an exponent unscaled, and small ones
   would lose their bits.
3. (x + a) + b is x + (a + b), (x * a) * b is x * (a * b); likewise with Sub and Div.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g
from . import _linear
from .reshapes import VIEWS, reshaped

_MOST_SPREAD = 256  # of the factors: of 24 bits that leaves the smallest feature 16
_OPERATORS = ("Mul", "Add", "Sub", "Div", "Neg")


def rewrite(model: ir.Model) -> int:
    nodes = [n for n in g.nodes_of(model, *_OPERATORS) if g.is_float(n.outputs[0])]
    return sum(node.graph is not None and _merged(node) for node in nodes)


def _merged(node):
    operands = _operands(node)
    shape = None if operands is None else g.shape_of(operands[0])
    if shape is None or shape != g.shape_of(node.outputs[0]):
        return False
    return (
        _into_maker(node, *operands) or _into_reader(node, *operands) or _joined(node, *operands)
    )


def _operands(node):
    """Return (x, factor, summand) of a node that computes x * factor + summand.

    factor and summand are constants that broadcast to x. Returns None if no operand is constant.
    """
    if node.op_type == "Neg":
        return node.inputs[0], np.float32(-1), np.float32(0)
    for x, other, is_first in ((*node.inputs, True), (*node.inputs[::-1], False)):
        data = g.const(other)
        if data is None or g.const(x) is not None or g.shape_of(x) is None:
            continue
        one, zero = np.float32(1), np.float32(0)
        if node.op_type == "Mul":
            return x, data, zero
        if node.op_type == "Add":
            return x, one, data
        if node.op_type == "Sub":
            return (x, one, -data) if is_first else (x, -one, data)
        return (x, 1 / data.astype(np.float64), zero) if is_first and data.all() else None
    return None


def _by_channel(shape, axis, factor, summand):
    """Return factor and summand as one value for each channel; None if one varies otherwise."""
    values = [_linear.channel_values(v, shape, axis) for v in (factor, summand)]
    return None if any(v is None for v in values) else values


def _into_maker(node, x, factor, summand):
    """Merge a node into the weights of the layer that makes x. Return True if that is possible."""
    view = g.sole_maker(x, *VIEWS)
    made = g.sole_maker(view.inputs[0] if view else x, *_linear.OPERATORS)
    if made is None or view and not _keeps_columns(view, made):
        return False
    shape = g.shape_of(x)
    axis = len(shape) - 1 if view else _linear.out_axis(made)
    values = None if axis is None else _by_channel(shape, axis, factor, summand)
    value = None if values is None else _linear.with_output(made, node, *values)
    if value is None:
        return False
    return g.replace(node, reshaped(node, value, shape) if view else value)


def _keeps_columns(view, made):
    shapes = [g.shape_of(v) for v in (view.inputs[0], view.outputs[0])]
    return made.op_type == "Gemm" and all(shapes) and shapes[0][-1] == shapes[1][-1]


def _into_reader(node, x, factor, summand):
    """Merge x * factor + summand into the layer that alone reads it; return True if merged.

    Args:
        node: the node that computes the expression.
        x: its input.
        factor: array of the factors.
        summand: array of the summands.
    """
    reader = g.sole_reader(node.outputs[0])
    if not g.is_op(reader, *_linear.OPERATORS) or reader.inputs[0] is not node.outputs[0]:
        return False
    axis = _linear.in_axis(reader)
    values = axis is not None and _by_channel(g.shape_of(x), axis, factor, summand)
    if not values or _spread(values[0]) > _MOST_SPREAD:
        return False
    value = _linear.with_input(reader, x, *values)
    return value is not None and g.replace(reader, value)


def _spread(factor):
    """Return the ratio of the largest factor to the smallest one other than 0."""
    sizes = np.abs(factor[factor != 0])
    return sizes.max() / sizes.min() if sizes.size else 1.0


def _joined(node, x, factor, summand):
    """Merge two nodes that both scale or both shift (rule 3). Return True if that is possible.

    Args:
        node: the second node.
        x: its input, the result of the first one.
        factor: its factor.
        summand: its summand.
    """
    inner = g.sole_maker(x, *_OPERATORS)
    operands = None if inner is None else _operands(inner)
    if operands is None or g.shape_of(operands[0]) != g.shape_of(x):
        return False
    first, a, b = operands
    if np.all(a == 1) and np.all(factor == 1):
        op, data = "Add", b.astype(np.float64) + summand
    elif not np.any(b) and not np.any(summand):
        op, data = "Mul", a.astype(np.float64) * factor
    else:
        return False
    c = g.constant(node.outputs[0], np.asarray(data, np.float32))
    return g.replace(node, g.add(node, op, [first, c], named=node))
