"""Shape and dtype of every value, by onnx's own inference."""

from __future__ import annotations

import onnx
from onnx import shape_inference

from tools import limits

from ..context import PLAIN, Context
from ..errors import ConvertError
from ..load import sound
from . import ceil_pools, infer_bodies, infer_declared, infer_extents, infer_ml

_SECONDS = 10.0  # for one time


def infer(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """A copy of the model with value_info filled in as far as it can be known.

    Raises ConvertError where the model contradicts itself.
    """
    infer_extents.forget(model)
    declared = ceil_pools.forget(model)
    model = _infer(model)
    for _ in model.graph.node:  # each round gets past one such operator at least
        if not _annotated(model, context):
            break
        infer_extents.forget_unknown(model.graph)
        model = _infer(model)
    ceil_pools.restore(model, declared)
    sound.check_sizes(model)
    return model


def _annotated(model, context):
    """What onnx does not know, by the first that can say something; False if none can."""
    return (
        infer_ml.annotate(model)
        or ceil_pools.annotate(model)
        or infer_declared.annotate(model, context)
        or infer_bodies.annotate(model, context, infer)
        or infer_extents.annotate(model, context)
    )


def _infer(model):
    limits.at("inferring shapes", most=_SECONDS)
    with ceil_pools.hidden(model):
        found = _inferred(model)
    ceil_pools.reveal(found)
    return found


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
