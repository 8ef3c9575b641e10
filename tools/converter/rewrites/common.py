"""Compute equal expressions once.

1. Of nodes with equal operators, inputs and attributes, only the first one stays.

Random operators, nodes with subgraphs, and operators of the user's own domains stay: they may
return another result each time.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g

_DOMAINS = ("", "ai.onnx.ml", g.MS)
_RANDOM = ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike")
_RANDOM += ("RandomUniform", "RandomUniformLike")


def rewrite(model: ir.Model) -> int:
    return sum(_merged(graph) for graph in model.graphs())


def _merged(graph):
    first: dict[tuple, ir.Node] = {}
    n_merged = 0
    for node in list(graph):
        key = _key(node)
        if key is None:
            continue
        same = first.setdefault(key, node)
        if same is not node:
            n_merged += g.replace(node, *same.outputs)
    return n_merged


def _key(node):
    """Return a key that nodes with equal results share; None for random nodes and bodies."""
    attributes = []
    for name, a in sorted(node.attributes.items()):
        if a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS):
            return None
        is_tensor = a.type in (ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
        attributes.append((name, id(a.value) if is_tensor else str(a.value)))
    if node.domain not in _DOMAINS or node.op_type in _RANDOM:
        return None
    n_outputs = tuple(bool(out.name) for out in node.outputs)
    inputs = tuple(id(x) for x in node.inputs)
    return node.op_identifier(), inputs, n_outputs, tuple(attributes)
