"""Operators that onnxruntime keeps in ONNX's own domain, though ONNX does not know them.

ONNX never had them, had them as experiments before opset 7, or has them in later opsets only, such
as LayerNormalization. onnx's checker refuses such a model, so they are com.microsoft's while a
model is converted.
"""

from __future__ import annotations

import onnx
from onnx import helper

from ..protos import copied, nodes_of, opset_of

_FIRST_DAYS = 9  # the last opset in which onnxruntime has the operators of ONNX's first days
# Operator -> the last opset in which it is none of ONNX's, and onnxruntime has it; None: in all.
_OPERATORS = {
    "Affine": _FIRST_DAYS,
    "Crop": _FIRST_DAYS,
    "DynamicSlice": _FIRST_DAYS,
    "ImageScaler": _FIRST_DAYS,
    "LayerNormalization": 16,
    "MeanVarianceNormalization": 8,
    "ParametricSoftplus": _FIRST_DAYS,
    "Scale": _FIRST_DAYS,
    "ScaledTanh": _FIRST_DAYS,
    "SimplifiedLayerNormalization": None,
    "ThresholdedRelu": 9,
}
_ONNX, _MICROSOFT = ("", "ai.onnx"), ("com.microsoft",)


def claim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Changes the model in place: moves these operators to com.microsoft."""
    opset = opset_of(model, "")
    names = {name for name, last in _OPERATORS.items() if last is None or opset <= last}
    imported = any(o.domain in _MICROSOFT for o in model.opset_import)
    if _move(model.graph, names, _ONNX, _MICROSOFT[0]) and not imported:
        model.opset_import.append(helper.make_opsetid(_MICROSOFT[0], 1))
    return model


def release(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy for onnxruntime, or the model itself where there is nothing to move back."""
    copy = copied(model)
    return copy if _move(copy.graph, _OPERATORS, _MICROSOFT, _ONNX[0]) else model


def _move(graph, names, old, new) -> bool:
    found = [n for n in nodes_of(graph) if n.op_type in names and n.domain in old]
    for node in found:
        node.domain = new
    return bool(found)
