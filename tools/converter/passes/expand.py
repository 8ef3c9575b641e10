"""Operators that no lowering serves, but whose definition is a function, replaced by that body."""

from __future__ import annotations

import onnx
from onnx import inliner

from ..load import opset_of
from .infer import infer

_MAX_DEPTH = 4  # a body may use operators that are functions themselves


def expand(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model itself, or a copy with those operators expanded. Values must have types."""
    for _ in range(_MAX_DEPTH):
        found = _expandable(model)
        if not found:
            return model
        for node, schema in found:
            _write_defaults(node, schema)
        ids = [("", op) for op in sorted({node.op_type for node, _ in found})]
        model = inliner.inline_selected_functions(
            model, ids, exclude=False, inline_schema_functions=True
        )
        model = infer(model)  # the bodies' values have no types yet
    return model


def _expandable(model):
    """[(node, its schema)] of the nodes to replace."""
    from ..ops import lowering_of

    version = opset_of(model, "")
    found = []
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and lowering_of("", node.op_type) is None:
            try:
                schema = onnx.defs.get_schema(node.op_type, version)
            except onnx.defs.SchemaError:
                continue
            # the inliner finds no type for an input that is left out in the middle
            by_types = schema.has_context_dependent_function and all(node.input)
            if schema.has_function or by_types:
                found.append((node, schema))
    return found


def _write_defaults(node, schema):
    """Spells out defaulted attributes: the inliner drops a body's reference to an absent one."""
    present = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in present and attribute.default_value.type:
            node.attribute.append(attribute.default_value)
