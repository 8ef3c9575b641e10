"""Infer the types of all values, by onnx's inference and rules for what it does not know."""

from __future__ import annotations

import onnx
from onnx import shape_inference

from tools import limits

from ..context import PLAIN, Context
from ..errors import ConvertError
from ..load import sound
from ..protos import set_all
from . import declarations, infer_bodies, infer_declared, infer_extents, infer_ml, misjudged

_SECONDS = 10.0  # for one call


def infer(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """Return a copy of the model with all types that can be inferred.

    Raises:
        ConvertError: if the shapes of the model contradict each other.
    """
    infer_extents.forget(model)
    declared = declarations.of_outputs(model) | context.declared | declarations.inferred(model)
    model = declarations.without_outputs(model)
    misjudged.forget(model)
    model = _infer(model)
    for _ in [*model.graph.node, *model.graph.output]:  # each round completes at least one
        if not _annotate(model, context, declared):
            break
        infer_extents.forget_unknown(model.graph)
        model = _infer(model)
    sound.check_sizes(model)
    declarations.note_inferred(model.graph)
    return model


def _annotate(model, context, declared):
    """Add types that onnx does not infer, by the first rule that can; return False if none can."""
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
        model = _infer_strictly(model)
    misjudged.reveal(model)
    _type_outputs(model.graph)
    return model


def _type_outputs(graph):
    """Move the types of outputs to them: onnx adds those without a type to value_info.

    A value may be an output several times.
    """
    names = {info.name for info in graph.output}
    types = {info.name: info.type for info in graph.value_info if info.name in names}
    for info in graph.output:
        if info.name in types:
            info.type.CopyFrom(types[info.name])
    if types:
        set_all(graph.value_info, [v for v in graph.value_info if v.name not in names])


def _infer_strictly(model):
    try:
        return shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True, data_prop=True
        )
    except Exception as e:  # onnx raises several kinds; its text names the node
        return _infer_leniently(model, e)


def _infer_leniently(model, strict_error):
    """Infer without strict mode: some operators refuse shapes that only a run knows."""
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        raise ConvertError(f"the model's shapes contradict each other: {strict_error}") from None
