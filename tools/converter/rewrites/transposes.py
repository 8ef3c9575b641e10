"""Merge Transposes of Transposes, and remove those that cancel.

1. A Transpose of a Transpose reads the first one's input, with both permutations in one.
2. Two that cancel are removed.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Transpose"))


def perm_of(node: ir.Node) -> list[int] | None:
    """Return the order of a Transpose; None if it is not known."""
    perm = g.attr(node, "perm")
    if perm is None and node.inputs[0].shape is not None:
        perm = list(range(len(node.inputs[0].shape)))[::-1]
    return perm


def _merged(node):
    inner = g.maker(node.inputs[0], "Transpose")
    if inner is None or perm_of(node) is None or perm_of(inner) is None:
        return False
    perm = [perm_of(inner)[axis] for axis in perm_of(node)]
    if perm == sorted(perm) and g.replace(node, inner.inputs[0]):
        return True
    return g.replace(node, g.add(node, "Transpose", [inner.inputs[0]], {"perm": perm}, named=node))
