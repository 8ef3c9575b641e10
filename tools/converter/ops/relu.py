"""Relu -> kernel relu."""

from __future__ import annotations

from . import lowers

FLOAT = 1


@lowers("Relu")
def lower_relu(node):
    node.require_dtype(FLOAT)
    node.emit("relu", node.inputs, node.outputs, [])
