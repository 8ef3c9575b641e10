"""Shape and dtype of every value, by onnx's own inference."""

from __future__ import annotations

import onnx
from onnx import shape_inference

from tools import limits

from ..context import PLAIN, Context
from ..errors import ConvertError
from ..load import sound
from ..protos import set_all
from . import declarations, infer_bodies, infer_declared, infer_extents, infer_ml, misjudged

_SECONDS = 10.0  # for one time


def infer(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """A copy of the model with value_info filled in as far as it can be known.

    Raises ConvertError where the model contradicts itself.
    """
    infer_extents.forget(model)
    declared = declarations.of_outputs(model) | context.declared | declarations.inferred(model)
    model = declarations.without_outputs(model)
    misjudged.forget(model)
    model = _infer(model)
    for _ in [*model.graph.node, *model.graph.output]:  # each round gets past one at least
        if not _annotated(model, context, declared):
            break
        infer_extents.forget_unknown(model.graph)
        model = _infer(model)
    sound.check_sizes(model)
    declarations.note_inferred(model.graph)
    return model


def _annotated(model, context, declared):
    """What onnx does not know, by the first that can say something; False if none can."""
    return (
        infer_ml.annotate(model)
        or infer_extents.annotate(model, context, misjudged.in_model(model))
        or infer_declared.annotate(model, context)
        or infer_bodies.annotate(model, context, infer)
        or declarations.believe(model, declared)
        or infer_extents.annotate(model, context)
    )


def _infer(model):
    limits.at("inferring shapes", most=_SECONDS)
    with misjudged.hidden(model):
        found = _inferred(model)
    misjudged.reveal(found)
    _type_outputs(found.graph)
    return found


def _type_outputs(graph):
    """Move the types of outputs to them: onnx infers those without a type as inner values.

    A value may be an output several times.
    """
    names = {info.name for info in graph.output}
    found = {info.name: info.type for info in graph.value_info if info.name in names}
    for info in graph.output:
        if info.name in found:
            info.type.CopyFrom(found[info.name])
    if found:
        set_all(graph.value_info, [v for v in graph.value_info if v.name not in names])


def _inferred(model):
    try:
        return shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True, data_prop=True
        )
    except Exception as e:  # onnx raises several kinds; its text names the node
        return _lenient(model, e)


def _lenient(model, strict_error):
    """Inference without strict mode: some operators refuse shapes that only run time knows."""
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        raise ConvertError(f"the model's shapes contradict each other: {strict_error}") from None
