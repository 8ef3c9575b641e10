"""CastLike -> Cast, with all attributes: onnxscript's folding would do it without saturate."""

from __future__ import annotations

import onnx
from onnx import helper


def to_cast(model: onnx.ModelProto) -> onnx.ModelProto:
    """Rewrites, in place, each CastLike whose second input has a known dtype."""
    graph = model.graph
    dtypes = {t.name: t.data_type for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        dtypes[info.name] = info.type.tensor_type.elem_type
    for node in graph.node:
        is_cast = node.op_type == "CastLike" and node.domain in ("", "ai.onnx")
        if is_cast and dtypes.get(node.input[1]):
            node.op_type = "Cast"
            node.attribute.append(helper.make_attribute("to", dtypes[node.input[1]]))
            del node.input[1]
    return model
