"""Replace sums of picked columns by a Gemm (the decisions of scikit-learn's SVC).

1. The pattern is a Concat (axis 1) of columns. Each is a sum of columns that ArrayFeatureExtractor
   or Gather takes from one float32 matrix, and of numbers, made by Add, Sub, Sum and Neg. It
   becomes a Gemm with weights of small integers.

It is replaced only if it has more nodes than columns. (If a column has inf or NaN, all sums become
NaN, not only those that read it.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from . import _graph as g

_ML = "ai.onnx.ml"
_MOST_WEIGHTS = 1 << 14


@dataclass
class _Sum:
    """A constant plus the sum over columns of weights[column] * column."""

    matrix: ir.Value | None
    weights: dict[int, float]
    constant: float
    nodes: set[ir.Node]

    def plus(self, other: _Sum, factor: float) -> _Sum | None:
        """Return the sum of two; None if they read different matrices."""
        if self.matrix is not None and other.matrix not in (None, self.matrix):
            return None
        weights = dict(self.weights)
        for column, weight in other.weights.items():
            weights[column] = weights.get(column, 0.0) + factor * weight
        constant = self.constant + factor * other.constant
        return _Sum(self.matrix or other.matrix, weights, constant, self.nodes | other.nodes)


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Concat"))


def _merged(node):
    shape = g.shape_of(node.outputs[0])
    if not shape or len(shape) != 2 or g.attr(node, "axis") not in (1, -1):
        return False
    if not g.is_float(node.outputs[0]) or len(node.inputs) != shape[1]:
        return False
    known: dict[ir.Value, _Sum | None] = {}
    sums = [_sum_of(value, shape[0], known) for value in node.inputs]
    if None in sums:
        return False
    matrices = {s.matrix for s in sums}
    matrix = next(iter(matrices))
    width = (g.shape_of(matrix) or (0, 0))[-1]
    n_nodes = len(set().union(*(s.nodes for s in sums)))
    if len(matrices) > 1 or matrix is None or n_nodes <= width + len(sums):
        return False
    if g.const(matrix) is not None or width * len(sums) > _MOST_WEIGHTS:
        return False
    w = np.zeros((width, len(sums)), np.float32)
    for j, one in enumerate(sums):
        for i, weight in one.weights.items():
            w[i, j] = weight
    inputs = [matrix, g.constant(node.outputs[0], w)]
    constants = np.array([one.constant for one in sums], np.float32)
    if constants.any():
        inputs.append(g.constant(node.outputs[0], constants))
    return g.replace(node, g.add(node, "Gemm", inputs, named=node))


def _sum_of(value, rows, known):
    """Return the _Sum that a column of `rows` elements is, else None."""
    if value not in known:
        number = g.scalar(value)
        if number is not None:
            known[value] = _Sum(None, {}, float(number), set())
        else:
            known[value] = _sum_of_node(value.producer(), value, rows, known)
    return known[value]


def _sum_of_node(node, value, rows, known):
    if node is None or g.shape_of(value) != (rows, 1):
        return None
    column = _column(node)
    if column is not None:
        matrix, i = column
        return _Sum(matrix, {i: 1.0}, 0.0, {node})
    if node.domain or node.op_type not in ("Add", "Sub", "Sum", "Neg"):
        return None
    total = _Sum(None, {}, 0.0, {node})
    for k, x in enumerate(node.inputs):
        part = _sum_of(x, rows, known)
        minus = node.op_type == "Neg" or node.op_type == "Sub" and k
        total = part and total.plus(part, -1.0 if minus else 1.0)
        if total is None:
            return None
    return total


def _column(node):
    """Return (matrix, number) of the column that a node takes of a matrix, else None."""
    is_picked = g.is_op(node, "ArrayFeatureExtractor", domain=_ML)
    if not is_picked and not (g.is_op(node, "Gather") and g.attr(node, "axis", 0) in (1, -1)):
        return None
    matrix, place = node.inputs[0], g.scalar(node.inputs[1])
    shape = g.shape_of(matrix)
    if place is None or shape is None or len(shape) != 2 or not 0 <= place < shape[1]:
        return None
    return matrix, int(place)
