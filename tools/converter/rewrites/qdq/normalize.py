"""Replace LayerNormalization between DQ and Q, or its first half, by an operator of integers.

1. DQ -> LayerNormalization -> Q with constant scale and bias becomes
   `mpconnxr:QLinearLayerNormalization` (see functions).
2. (x - mean(x)) / root -> Q becomes `mpconnxr:QLinearDeviation`, if x is dequantized, both means
   are over the last axis, and root is a table of floats (see lookup) of the quantized
   mean((x - mean(x)) ** 2).
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from ...ops.deviation import deviation_words
from ...shapes.extent import any_open, is_open
from .. import _graph as g
from ._edit import Edit
from ._operands import bytes_of, result_of
from ._values import (
    Scaled,
    StaysFloat,
    array_of,
    dequantize,
    dequantized,
    floats_of,
    is_q,
    quantized,
    shape_of,
)
from .functions import call


def fuse_normalize(edit: Edit, node: ir.Node) -> None:
    """Apply rule 1, or raise StaysFloat."""
    if sum(bool(value.name) for value in node.outputs) > 1:
        raise StaysFloat("its statistics are outputs, too")
    x = bytes_of(node.inputs[0], "its input")
    quantize, y = result_of(node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    shape = shape_of(node.inputs[0])
    if shape is None or any_open(shape[g.attr(node, "axis", -1) :]):
        raise StaysFloat("a run decides how many items it normalizes")
    out, scale, offset = quantize.outputs[0].name, floats_of(node.inputs[1]), g.input_of(node, 2)
    bias = np.zeros(1, np.float32) if offset is None else floats_of(offset)
    if scale is None or bias is None:
        raise StaysFloat("its scale or bias is not constant")
    factors = [scale, np.broadcast_to(bias, np.broadcast_shapes(bias.shape, scale.shape))]
    inputs = [*edit.operand(x, out), *(edit.constant(v, out) for v in factors)]
    inputs += edit.parameters(y, out)
    op = "QLinearLayerNormalization"
    edit.fuse(node, quantize, [call(edit, op, inputs, node.name, node)])


def fuse_deviation(edit: Edit, node: ir.Node) -> None:
    """Apply rule 2 to a Div, or raise StaysFloat."""
    centred = node.inputs[0].producer()
    operand, table = _centred(centred), _table(node.inputs[1])
    if operand is None or table is None:
        raise StaysFloat(f"{node.op_type} has no integer form")
    (x, shape), (index, roots) = operand, table
    v = _variance(index, centred, shape)
    if v is None:
        raise StaysFloat("what it is divided by does not follow from its quantized variance")
    quantize, y = result_of(node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    scales = [float(q.scale.reshape(-1)[0]) for q in (x, v, y)]
    if deviation_words(shape[-1], scales, roots) is None:
        raise StaysFloat("its scales are too far apart")
    out = quantize.outputs[0].name
    inputs = [*edit.operand(x, out), *edit.parameters(v, out), edit.constant(roots, out)]
    inputs += edit.parameters(y, out)
    edit.fuse(node, quantize, [call(edit, "QLinearDeviation", inputs, node.name)])


def _centred(node):
    """Return (bytes of x, shape) of x - mean(x) over the last axis; else None."""
    if not g.is_op(node, "Sub"):
        return None
    x, shape = dequantized(node.inputs[0]), shape_of(node.inputs[0])
    mean = node.inputs[1].producer()
    if x is None or not x.is_bytes or not shape or 0 in shape or is_open(shape[-1]):
        return None
    if not _is_mean(mean, shape):
        return None
    other = dequantized(mean.inputs[0])
    is_same = other is not None and other.values is x.values and other.has_scale_of(x)
    return (x, shape) if is_same else None


def _table(value):
    """Return (the bytes that a value follows from, its float32 for each of them); else None."""
    q = dequantized(value)
    lookup = (value if q is None else q.values).producer()
    if not g.is_op(lookup, "Lookup", domain=g.OWN):
        return None
    table = array_of(lookup.inputs[1])
    if table is None or q is not None and not q.is_bytes:
        return None
    table = table if q is None else dequantize(table, q)
    return (lookup.inputs[0], table) if table.dtype == np.float32 else None


def _is_mean(node, shape):
    """Return True if a node computes the mean of rows, over the last axis alone."""
    if not g.is_op(node, "ReduceMean") or shape_of(node.outputs[0]) != [*shape[:-1], 1]:
        return False
    axes = g.attr(node, "axes")
    if g.input_of(node, 1) is not None:
        axes = array_of(node.inputs[1])
    return axes is not None and [int(a) % len(shape) for a in axes] == [len(shape) - 1]


def _variance(value, centred, shape) -> Scaled | None:
    """Return the quantized variance; None if the value is not one.

    Args:
        value: the bytes from which the root is looked up; of a Q of the mean of squares.
        centred: the node that subtracts the mean from x.
        shape: shape of x.
    """
    quantize = value.producer()
    v = quantized(quantize) if is_q(quantize) else None
    mean = quantize.inputs[0].producer() if v is not None and v.is_bytes else None
    if not _is_mean(mean, shape):
        return None
    square = mean.inputs[0].producer()
    if not g.is_op(square, "Pow", "Mul") or square.inputs[0] is not centred.outputs[0]:
        return None
    power = floats_of(square.inputs[1])
    is_two = power is not None and power.size == 1 and float(power.reshape(-1)[0]) == 2
    is_square = is_two if square.op_type == "Pow" else square.inputs[1] is square.inputs[0]
    return v if is_square else None
