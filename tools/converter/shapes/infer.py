"""Shape and dtype of every value, by onnx's own inference."""

from __future__ import annotations

import onnx
from onnx import shape_inference

from tools import limits

from ..errors import ConvertError
from ..load import sound
from . import infer_bodies, infer_declared, infer_extents, infer_ml

_SECONDS = 10.0  # for one time


def infer(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model with value_info filled in as far as it can be known.

    Raises ConvertError where the model contradicts itself.
    """
    infer_extents.forget(model)
    model = _infer(model)
    for _ in model.graph.node:  # each round gets past one such operator at least
        passes = (infer_ml, infer_declared, infer_bodies, infer_extents)
        if not any(p.annotate(model) for p in passes):
            break
        model = _infer(model)
    sound.check_sizes(model)
    return model


def _infer(model):
    limits.at("inferring shapes", most=_SECONDS)
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
