"""Merge Add into the convolution before it: com.microsoft's FusedConv with Z.

1. The pattern is an Add that alone reads a Conv's result, and adds any tensor of the same shape.

An activation behind the Add is merged by `activations`.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Add") if g.is_float(node.outputs[0]))


def _merged(node):
    for x, z in (node.inputs, node.inputs[::-1]):
        made = g.sole_maker(x, "Conv")
        if made is None or not g.same_type(x, z) or g.const(z) is not None:
            continue
        if any(g.maker(value, "DequantizeLinear") for value in (*made.inputs[:2], z)):
            continue
        inputs = [*made.inputs[:2], g.input_of(made, 2), z]
        return g.replace(node, g.add(node, "FusedConv", inputs, made.attributes, g.MS, named=made))
    return False
