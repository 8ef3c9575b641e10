"""Merge chains of nodes that only change a shape into one Reshape.

1. A Reshape, Flatten, Squeeze or Unsqueeze that reads the result of another one reads the other
   one's input instead.
2. A chain that ends in the shape that it began with is removed.
3. A Transpose that only moves axes of one element counts as such a node; it becomes a Reshape.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g
from .identities import is_in_order

VIEWS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")


def rewrite(model: ir.Model) -> int:
    turned = [n for n in g.nodes_of(model, "Transpose") if _moves_ones(n)]
    for node in turned:
        g.replace(node, reshaped(node, node.inputs[0], g.shape_of(node.outputs[0])))
    return len(turned) + sum(_shortened(node) for node in g.nodes_of(model, *VIEWS))


def reshaped(before: ir.Node, x: ir.Value, shape: tuple[int, ...]) -> ir.Value:
    """Return x with this shape, by a new node in front of another one."""
    target = g.constant(before.outputs[0], np.asarray(shape, np.int64))
    # a 0 in the shape would mean: as in the input
    attributes = {"allowzero": 1} if 0 in shape else {}
    return g.add(before, "Reshape", [x, target], attributes, like=x, shape=shape)


def _moves_ones(node):
    shape, out = g.shape_of(node.inputs[0]), g.shape_of(node.outputs[0])
    if shape is None or out is None or 0 in shape:
        return False
    return is_in_order(g.attr(node, "perm"), shape)


def _shortened(node):
    inner, shape = g.maker(node.inputs[0], *VIEWS), g.shape_of(node.outputs[0])
    if inner is None or shape is None or 0 in shape:
        return False
    x = inner.inputs[0]
    if g.shape_of(x) == shape and g.replace(node, x):
        return True
    return g.replace(node, reshaped(node, x, shape))
