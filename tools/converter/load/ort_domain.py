"""Operators that onnxruntime keeps in ONNX's own domain, though ONNX does not know them.

onnx's checker refuses such a model, so they are com.microsoft's while a model is converted.
"""

from __future__ import annotations

import onnx
from onnx import helper

_OPERATORS = ("SimplifiedLayerNormalization",)
_ONNX, _MICROSOFT = ("", "ai.onnx"), ("com.microsoft",)


def claim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Changes the model in place: moves these operators to com.microsoft."""
    imported = any(o.domain in _MICROSOFT for o in model.opset_import)
    if _move(model.graph, _ONNX, _MICROSOFT[0]) and not imported:
        model.opset_import.append(helper.make_opsetid(_MICROSOFT[0], 1))
    return model


def release(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy for onnxruntime, or the model itself where there is nothing to move back."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy if _move(copy.graph, _MICROSOFT, _ONNX[0]) else model


def _move(graph, old, new) -> bool:
    found = [n for n in graph.node if n.op_type in _OPERATORS and n.domain in old]
    for node in found:
        node.domain = new
    bodies = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return any([bool(found), *[_move(body, old, new) for body in bodies]])
