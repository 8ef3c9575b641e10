"""Reorder the weights of a dense layer instead of the Transpose in front of it.

1. The pattern is a Transpose that leaves the first axis in place, then Reshape or Flatten of all
   other axes to one, then Gemm, MatMul or their quantized forms with constant weights. The rows of
   the weights are reordered, and the Transpose is removed.
2. Element-wise nodes of one tensor, QuantizeLinear and DequantizeLinear of one scale may be in
   between.

No value in the pattern may have another reader.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from . import _graph as g
from .reshapes import VIEWS
from .transposes import perm_of

_BETWEEN = ("Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Neg")
_QUANTIZE = ("QuantizeLinear", "DequantizeLinear")
# Operator -> which of its inputs are the weights
_DENSE = {
    ("", "Gemm"): 1,
    ("", "MatMul"): 1,
    ("", "MatMulInteger"): 1,
    ("", "QLinearMatMul"): 3,
    (g.MS, "QGemm"): 3,
}


def rewrite(model: ir.Model) -> int:
    return sum(_absorbed(node) for node in g.nodes_of(model, "Transpose"))


def absorbs(view: ir.Node) -> bool:
    """Return True if a Transpose in front of this node could go into a layer's weights."""
    return _dense_behind(view) is not None


def _absorbed(node):
    view, perm = g.sole_reader(node.outputs[0]), perm_of(node)
    if view is None or perm is None or perm[0] != 0:
        return False
    dense = _dense_behind(view)
    if dense is None:
        return False
    layer, i = dense
    w, axis = layer.inputs[i], 1 if g.attr(layer, "transB", 0) else 0
    shape = g.shape_of(node.inputs[0])[1:]
    places = np.arange(math.prod(shape)).reshape(shape).transpose([a - 1 for a in perm[1:]])
    rows = g.const(w).take(np.argsort(places.ravel()), axis)
    layer.replace_input_with(i, g.constant(w, rows))
    target = g.constant(view.outputs[0], np.asarray(g.shape_of(view.outputs[0]), np.int64))
    like = view.outputs[0]
    flat = g.add(view, "Reshape", [node.inputs[0], target], like=like, named=view)
    return g.replace(view, flat)


def _dense_behind(view):
    """Return (the layer, which input its weights are); None if it does not fit."""
    if not g.is_op(view, *VIEWS) or not _flattens(view):
        return None
    node, value = g.sole_reader(view.outputs[0]), view.outputs[0]
    while node is not None and _passes(node):
        value = node.outputs[0]
        node = g.sole_reader(value)
    i = None if node is None else _DENSE.get((node.domain, node.op_type))
    if i is None or node.inputs[0] is not value or g.attr(node, "transA", 0):
        return None
    w = node.inputs[i]
    is_known = g.const(w) is not None and g.sole_reader(w) is not None
    return (node, i) if is_known and len(w.shape) == 2 else None


def _flattens(view):
    """Return True if all axes but the first become one: (N, A, B, C) -> (N, A * B * C)."""
    shape, flat = g.shape_of(view.inputs[0]), g.shape_of(view.outputs[0])
    if not shape or not flat or 0 in shape:
        return False
    return flat[-1] == math.prod(shape[1:])


def _passes(node):
    if g.is_op(node, *_QUANTIZE):
        return g.is_one(node.inputs[1])
    return g.is_op(node, *_BETWEEN)
