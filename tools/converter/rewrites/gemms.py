"""Merge MatMul and Add into Gemm.

1. MatMul of a matrix with constant weights, read only by Add of a constant row: Gemm.
2. Where the first operand has more than two dims, it is reshaped to rows and the result back:
   views, which cost nothing.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from . import _graph as g
from .reshapes import reshaped


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Add") if g.is_float(node.outputs[0]))


def _merged(node):
    for product, row in (node.inputs, node.inputs[::-1]):
        made = g.sole_maker(product, "MatMul")
        if made is not None and _fits(node, made, g.shape_of(row), g.const(row)):
            return g.replace(node, _gemm(node, made, row))
    return False


def _fits(node, made, row, data):
    a, w, out = (g.shape_of(v) for v in (*made.inputs, made.outputs[0]))
    if None in (a, w, out) or data is None or g.const(made.inputs[1]) is None:
        return False
    if len(a) < 2 or len(w) != 2 or g.shape_of(node.outputs[0]) != out:
        return False
    return math.prod(row) == out[-1] and len(row) <= len(out) and (row or (1,))[-1] == out[-1]


def _gemm(node, made, row):
    a, w = made.inputs
    shape, n = g.shape_of(a), g.shape_of(w)[1]
    if len(g.shape_of(row)) != 1:
        row = g.constant(row, g.const(row).reshape(-1))
    if len(shape) == 2:
        return g.add(node, "Gemm", [a, w, row], named=made)
    rows = math.prod(shape[:-1])
    flat = reshaped(node, a, (rows, shape[-1]))
    product = g.add(node, "Gemm", [flat, w, row], shape=(rows, n), named=made)
    return reshaped(node, product, (*shape[:-1], n))
