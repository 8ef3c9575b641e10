"""Merge Exp of negative squared distances into one operator (Gaussian processes).

1. The pattern is com.microsoft's CDist (sqeuclidean), multiplied or divided by numbers, or
   negated, with a negative factor in total, then Exp. It becomes mpconnxr's Decays.

Only lowering uses the operator: a model that is saved keeps the original nodes.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Exp"))


def _merged(node):
    x, factor = node.inputs[0], 1.0
    while (made := g.sole_maker(x, "Mul", "Div", "Neg")) is not None:
        if made.op_type == "Neg":
            x, factor = made.inputs[0], -factor
            continue
        a, b = made.inputs
        if made.op_type == "Mul" and g.scalar(b) is None:
            a, b = b, a
        number = g.scalar(b)
        if not number or g.shape_of(a) != g.shape_of(x):
            return False
        x, factor = a, factor * number if made.op_type == "Mul" else factor / number
    apart = g.sole_maker(x, "CDist", domain=g.MS)
    if apart is None or factor >= 0 or not g.is_float(x):
        return False
    if g.attr(apart, "metric", "sqeuclidean") != "sqeuclidean" or g.const(apart.inputs[1]) is None:
        return False
    out = g.add(node, "Decays", apart.inputs, {"gamma": -factor}, g.OWN, named=apart)
    return g.replace(node, out)
