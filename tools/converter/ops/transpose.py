"""Transpose, DepthToSpace, SpaceToDepth -> kernel move."""

from __future__ import annotations

from ..errors import Problem
from . import lowers
from ._move import emit_transpose


@lowers("Transpose")
def lower_transpose(node):
    x = node.inputs[0]
    perm = node.attr("perm", list(range(len(x.shape)))[::-1])
    emit_transpose(node, x, node.outputs[0], x.shape, perm)


@lowers("DepthToSpace")
def lower_depth_to_space(node):
    """mode DCR (depth, column, row) or CRD; opset < 11 has only the first."""
    x = node.inputs[0]
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    if b < 1 or c % (b * b):
        raise Problem(f"blocksize {b} for {c} channels")
    if node.attr("mode", "DCR") == "DCR":
        view, perm = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        view, perm = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    emit_transpose(node, x, node.outputs[0], view, perm)


@lowers("SpaceToDepth")
def lower_space_to_depth(node):
    x = node.inputs[0]
    n, c, h, w = x.shape
    b = node.attr("blocksize")
    perm = (0, 3, 5, 1, 2, 4) if node.attr("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    emit_transpose(node, x, node.outputs[0], (n, c, h // b, b, w // b, b), perm)
