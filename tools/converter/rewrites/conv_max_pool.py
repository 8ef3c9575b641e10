"""Merge Conv and MaxPool into one operator, which never writes the plane between them.

1. The pattern is Conv, or FusedConv without Z whose activation is Relu or Clip, and a MaxPool that
   alone reads its result; it becomes mpconnxr's ConvMaxPool. They have one or two spatial dims,
   and the pool's windows do not overlap (strides equal the kernel), without pads, dilations or
   indices.

Only lowering uses the operator: a model that is saved keeps both nodes.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "MaxPool"))


def _merged(node):
    x = node.inputs[0]
    conv = g.sole_maker(x, "Conv") or g.sole_maker(x, "FusedConv", domain=g.MS)
    if conv is None or not g.is_float(x) or not _lies_side_by_side(node):
        return False
    if g.input_of(conv, 3) is not None or g.const(conv.inputs[1]) is None:
        return False
    if g.attr(conv, "activation", "Relu") not in ("Relu", "Clip"):
        return False
    attributes = {**conv.attributes, "pool": g.attr(node, "kernel_shape")}
    out = g.add(node, "ConvMaxPool", conv.inputs[:3], attributes, g.OWN, named=conv)
    return g.replace(node, out)


def _lies_side_by_side(node):
    kernel = g.attr(node, "kernel_shape")
    shape, out = g.shape_of(node.inputs[0]), g.shape_of(node.outputs[0])
    plain = not any(g.attr(node, "pads", [0])) and set(g.attr(node, "dilations", [1])) == {1}
    whole = g.attr(node, "strides", [1] * len(kernel)) == kernel and len(kernel) <= 2
    if not (plain and whole and shape and out) or len(node.outputs) > 1:
        return False
    return list(out[2:]) == [d // k for d, k in zip(shape[2:], kernel, strict=True)]
