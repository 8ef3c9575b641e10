"""Which input of the graph decides something, so that a message can offer to bind it."""

from __future__ import annotations

import math

import onnx

from ..protos import free_inputs

_MOST_ITEMS = 8  # of an input that chooses: a sampling rate, a switch


def chooser(model: onnx.ModelProto, name: str) -> str:
    """The one input of few items that a value is computed from; "" if there is no such input."""
    makers = {output: node for node in model.graph.node for output in node.output}
    inputs = {info.name: info for info in free_inputs(model.graph)}
    todo, seen = [name], set()
    while todo:
        value = todo.pop()
        if value and value not in seen:
            seen.add(value)
            todo += makers[value].input if value in makers else ()
    found = [inputs[value] for value in seen if value in inputs]
    return found[0].name if len(found) == 1 and _is_small(found[0]) else ""


def _is_small(info):
    t = info.type.tensor_type
    dims = [d.dim_value for d in t.shape.dim]
    return t.HasField("shape") and 0 < math.prod(dims) <= _MOST_ITEMS
