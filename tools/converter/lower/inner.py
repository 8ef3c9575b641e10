"""Turn values inside of a model into outputs of it, to look at them (--inner)."""

from __future__ import annotations

from collections.abc import Collection

import onnx


def expose(model: onnx.ModelProto, names: Collection[str]) -> onnx.ModelProto:
    """Return the model with these inner values as further outputs.

    Names of other values are ignored: of inputs and outputs, of strings, or without a fixed shape.
    """
    graph = model.graph
    infos = {v.name: v for v in graph.value_info if _is_fixed(v.type)}
    own = {o.name for o in graph.output}
    computed = [name for node in graph.node for name in node.output]
    exposed = [infos[n] for n in computed if n in names and n in infos and n not in own]
    if not exposed:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.extend(exposed)
    return copy


def _is_fixed(kind: onnx.TypeProto) -> bool:
    t = kind.tensor_type
    is_number = 0 < t.elem_type != onnx.TensorProto.STRING
    return is_number and t.HasField("shape") and all(d.HasField("dim_value") for d in t.shape.dim)
