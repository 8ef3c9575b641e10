"""Move operators that onnxruntime has in ONNX's own domain, but ONNX has not, to com.microsoft.

ONNX never had them, had them as experiments before opset 7, or has them only in later opsets, such
as LayerNormalization. onnx's checker refuses such a model, so they belong to com.microsoft while a
model is converted.
"""

from __future__ import annotations

import onnx
from onnx import helper

from ..protos import copied, nodes_of, opset_of

_FIRST_DAYS = 9  # the last opset in which onnxruntime has the operators of ONNX's first days
# Operator -> the last opset where only onnxruntime has it in ONNX's domain; None: all opsets.
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
    """Move the operators that only onnxruntime has to com.microsoft, in place."""
    opset = opset_of(model, "")
    names = {name for name, last in _OPERATORS.items() if last is None or opset <= last}
    imported = any(o.domain in _MICROSOFT for o in model.opset_import)
    if _move(model.graph, names, _ONNX, _MICROSOFT[0]) and not imported:
        model.opset_import.append(helper.make_opsetid(_MICROSOFT[0], 1))
    return model


def release(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model for onnxruntime, in a copy if operators move back to ONNX's domain."""
    copy = copied(model)
    return copy if _move(copy.graph, _OPERATORS, _MICROSOFT, _ONNX[0]) else model


def _move(graph, names, old, new) -> bool:
    """Move nodes of these operators to another domain; return True if there were any."""
    moved = [n for n in nodes_of(graph) if n.op_type in names and n.domain in old]
    for node in moved:
        node.domain = new
    return bool(moved)
