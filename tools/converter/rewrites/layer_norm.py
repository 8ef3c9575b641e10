"""Restore LayerNormalization over the last axis from its parts.

1. d / sqrt(mean(d * d) + epsilon) with d = x - mean(x), as Div, or Mul by a reciprocal; d * d may
   be Pow. A Mul by a constant row behind it is the scale, an Add of a constant row the bias.

ONNX has the operator from opset 17 on. Below it the rewrite makes an operator of domain mpconnxr
with scale and bias, which a function in the model defines (see _norm).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from onnx import parser

from . import _graph as g
from ._norm import NORM, NORM_SINCE

_FUNCTION = f"LayerNormalization <axis, epsilon> (real_x, scale, bias) => (real) {{ {NORM} }}"


@dataclass
class _Norm:
    """A normalization: (x - mean) / sqrt(mean((x - mean) ** 2) + epsilon)."""

    x: ir.Value
    mean: ir.Value
    epsilon: float


def rewrite(model: ir.Model) -> int:
    roots = [n for n in g.nodes_of(model, "Sqrt") if g.is_float(n.outputs[0])]
    n_changed = sum(_recognised(node) for node in roots)
    if n_changed and model.graph.opset_imports[""] < NORM_SINCE:
        head = f'<opset_import: ["" : {model.graph.opset_imports[""]}], domain: "{g.OWN}">'
        function = ir.from_proto(parser.parse_function(head + _FUNCTION))
        model.functions[function.identifier()] = function
        model.ir_version = max(model.ir_version, 8)  # the first with functions
    return n_changed


def _recognised(root):
    norm = _norm(root)
    if norm is None or g.shape_of(norm.x) is None:
        return False
    for use in list(root.outputs[0].uses()):
        reader = use.node
        if g.is_op(reader, "Div") and _is_difference(reader.inputs[0], norm):
            return _written(reader, norm)
        for user in list(reader.outputs[0].uses()) if _is_reciprocal(reader) else ():
            is_product = g.is_op(user.node, "Mul")
            if is_product and any(_is_difference(v, norm) for v in user.node.inputs):
                return _written(user.node, norm)
    return False


def _is_reciprocal(node):
    return g.is_op(node, "Reciprocal") or g.is_op(node, "Div") and g.scalar(node.inputs[0]) == 1


def _norm(root):
    """Return the normalization that this Sqrt belongs to, else None."""
    total = g.maker(root.inputs[0], "Add")
    for variance, number in () if total is None else (total.inputs, total.inputs[::-1]):
        epsilon, made = g.scalar(number), _mean(variance)
        if epsilon is None or made is None:
            continue
        difference = g.maker(_squared(made), "Sub")
        if difference is None:
            return None
        x, mean = difference.inputs
        return _Norm(x, mean, epsilon) if _mean(mean) is x else None
    return None


def _mean(value):
    """Return the value whose mean over the last axis this is, with keepdims; else None."""
    node = g.maker(value, "ReduceMean")
    if node is None or not g.attr(node, "keepdims", 1) or node.inputs[0].shape is None:
        return None
    last = ([-1], [len(node.inputs[0].shape) - 1])
    return node.inputs[0] if g.ints_of(node, "axes", 1) in last else None


def _squared(value):
    """Return d of d * d or d ** 2, else None."""
    node = g.maker(value, "Mul", "Pow")
    if node is None:
        return None
    is_square = node.inputs[0] is node.inputs[1] if node.op_type == "Mul" else False
    is_square |= node.op_type == "Pow" and g.scalar(node.inputs[1]) == 2
    return node.inputs[0] if is_square else None


def _is_difference(value, norm):
    node = g.maker(value, "Sub")
    return node is not None and node.inputs[0] is norm.x and _mean(node.inputs[1]) is norm.x


def _is_row(value, x):
    """Return True for a constant that varies along the last axis only."""
    shape = g.shape_of(value)
    n = g.shape_of(x)[-1]
    return g.const(value) is not None and shape[-1:] == (n,) and np.prod(shape) == n


def _written(top, norm):
    """Write the operator in the place of all from the node that makes d / sqrt(...) on."""
    scale = bias = None
    reader = g.sole_reader(top.outputs[0])
    other = _operand_beside(reader, top, "Mul", norm)
    if other is not None:
        scale, top = other, reader
        reader = g.sole_reader(top.outputs[0])
    other = _operand_beside(reader, top, "Add", norm)
    if other is not None:
        bias, top = other, reader
    return _write(top, norm, scale, bias)


def _operand_beside(reader, node, op_type, norm):
    """Return the other operand of a reader of a node, if it is a constant row; else None."""
    if not g.is_op(reader, op_type):
        return None
    other = next((v for v in reader.inputs if v is not node.outputs[0]), None)
    return other if _is_row(other, norm.x) else None


def _write(top, norm, scale, bias):
    """Replace the nodes of a normalization by LayerNormalization.

    Args:
        top: the last node.
        norm: the normalization.
        scale: constant row, or None for ones.
        bias: constant row, or None for zeros.
    """
    if not g.same_type(norm.x, top.outputs[0]):
        return False
    n = g.shape_of(norm.x)[-1]
    rows = [np.ones(n, np.float32) if scale is None else g.const(scale).reshape(-1)]
    rows.append(np.zeros(n, np.float32) if bias is None else g.const(bias).reshape(-1))
    inputs = [norm.x, *(g.constant(top.outputs[0], row) for row in rows)]
    attributes = {"axis": -1, "epsilon": float(norm.epsilon)}
    domain = "" if g.opset_of(top) >= NORM_SINCE else g.OWN
    out = g.add(top, "LayerNormalization", inputs, attributes, domain, named=top)
    return g.replace(top, out)
