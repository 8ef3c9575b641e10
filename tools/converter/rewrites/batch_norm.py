"""Merge BatchNormalization into the weights of the layer before or after it."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g
from . import _linear


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "BatchNormalization"))


def _merged(node):
    affine = _affine(node)
    if affine is None:
        return False
    made = g.sole_maker(node.inputs[0], *_linear.OPERATORS)
    if made is not None and _linear.out_axis(made) == 1:
        value = _linear.with_output(made, node, *affine)
        if value is not None:
            return g.replace(node, value)
    reader = g.sole_reader(node.outputs[0])
    if g.is_op(reader, *_linear.OPERATORS) and _is_first_input(reader, node):
        value = _linear.with_input(reader, node.inputs[0], *affine)
        return value is not None and g.replace(reader, value)
    return False


def _is_first_input(reader, node):
    return reader.inputs[0] is node.outputs[0] and _linear.in_axis(reader) == 1


def _affine(node):
    """Return (factor, summand) by channel in doubles; None if it trains or they are not known."""
    others = [g.const(x) for x in node.inputs[1:5]]
    trains = g.attr(node, "training_mode", 0) or len([o for o in node.outputs if o.uses()]) > 1
    if trains or any(c is None for c in others) or not g.is_float(node.inputs[0]):
        return None
    scale, bias, mean, variance = (c.astype(np.float64) for c in others)
    factor = scale / np.sqrt(variance + g.attr(node, "epsilon", 1e-5))
    return factor, bias - mean * factor
