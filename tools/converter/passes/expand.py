"""Operators that no lowering serves, but whose definition is a function, replaced by that body."""

from __future__ import annotations

import onnx
from onnx import inliner

from ..load import opset_of

_MAX_DEPTH = 4  # a body may use operators that are functions themselves


def expand(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model itself, or a copy with those operators expanded."""
    for _ in range(_MAX_DEPTH):
        missing = _expandable(model)
        if not missing:
            return model
        ids = [("", op) for op in sorted(missing)]
        model = inliner.inline_selected_functions(
            model, ids, exclude=False, inline_schema_functions=True
        )
    return model


def _expandable(model):
    from ..ops import lowering_of

    version = opset_of(model, "")
    found = set()
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and lowering_of("", node.op_type) is None:
            try:
                schema = onnx.defs.get_schema(node.op_type, version)
            except onnx.defs.SchemaError:
                continue
            if schema.has_function or schema.has_context_dependent_function:
                found.add(node.op_type)
    return found
