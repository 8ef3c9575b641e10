"""Rewrites of the ONNX graph before lowering, one a file."""

from __future__ import annotations

import onnx

from . import expand, fold, infer


def simplify(model: onnx.ModelProto) -> onnx.ModelProto:
    """Shapes inferred, constants folded, operators without a kernel replaced by their bodies."""
    model = fold.fold(infer.infer(model))
    expanded = expand.expand(model)
    if expanded is not model:
        model = fold.fold(infer.infer(expanded))
    return infer.infer(model)
