"""Outputs that a model declares with another number of dims than its nodes give them.

Some exporters do: a label as [N] where ArgMax keeps its axis, a prediction as [N] of a tree
ensemble. onnxruntime goes by the nodes, and so does the converter.
"""

from __future__ import annotations

import onnx

from ..errors import ConvertError
from ..protos import copied
from . import infer

_ML = "ai.onnx.ml"


def doubted(model: onnx.ModelProto) -> list[str]:
    """Names of outputs to look at: those with a dim without a number, and all of ai.onnx.ml's."""
    has_ml = any(node.domain == _ML for node in model.graph.node)
    return [o.name for o in model.graph.output if _is_tensor(o) and (has_ml or _is_free(o))]


def corrected(model: onnx.ModelProto, names: list[str]) -> list[str]:
    """Gives these outputs the dims that follow from the nodes, where their number is another.

    Changes the model in place; returns a note for each.
    """
    if not names:
        return []
    found = copied(model)
    for o in found.graph.output:
        if o.name in names:
            o.type.tensor_type.ClearField("shape")
    try:
        found = infer.infer(found)
    except ConvertError:  # it is refused later, in its own words
        return []
    notes = []
    for o, other in zip(model.graph.output, found.graph.output, strict=True):
        shape, inferred = o.type.tensor_type.shape, other.type.tensor_type
        if o.name not in names or not inferred.HasField("shape"):
            continue
        if len(shape.dim) != len(inferred.shape.dim):
            shape.CopyFrom(inferred.shape)
            dims = ", ".join(str(d.dim_value or d.dim_param or "?") for d in shape.dim)
            notes.append(f"output {o.name} has the shape [{dims}], not the one that is declared")
    return notes


def _is_tensor(info):
    return info.type.HasField("tensor_type") and info.type.tensor_type.HasField("shape")


def _is_free(info):
    return not all(d.HasField("dim_value") for d in info.type.tensor_type.shape.dim)
