"""Split of a constant -> constants: onnxscript folds operators of one output only."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from ..external_weights import array_of, tensor_of


def split_constants(model: onnx.ModelProto) -> bool:
    """Changes the model in place; True if there was such a node."""
    graph = model.graph
    known = {t.name: t for t in graph.initializer}
    found = [
        node
        for node in graph.node
        if node.op_type == "Split"
        and node.domain in ("", "ai.onnx")
        and known.keys() >= {*node.input}
    ]
    for node in found:
        values = [array_of(known[name]) for name in node.input]
        for name, part in zip(node.output, _parts(node, *values), strict=True):
            if name:
                graph.initializer.append(tensor_of(part, name, like=known[node.input[0]]))
        graph.node.remove(node)
    return bool(found)


def _parts(node, x, sizes=None):
    """Sizes are an attribute (opset < 13), an input, or equal, the last one smaller."""
    a = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    axis, n = a.get("axis", 0), len(node.output)
    sizes = a.get("split") if sizes is None else sizes
    if sizes is None:
        sizes = [-(-x.shape[axis] // n)] * n
    return [np.ascontiguousarray(part) for part in np.split(x, np.cumsum(sizes)[:-1], axis)]
