"""A model in a newer opset, by onnx's version converter."""

from __future__ import annotations

import onnx
from onnx import version_converter

from ..errors import ConvertError
from ..protos import one_line, opset_of


def upgraded(model: onnx.ModelProto, opset: int, why: str = "") -> onnx.ModelProto:
    """The model in that opset if its own is older. Raises ConvertError, with what needs it."""
    own = opset_of(model, "")
    if not 0 < own < opset:
        return model
    try:
        return version_converter.convert_version(model, opset)
    except Exception as e:  # it raises several kinds for what it has no rule for
        raise ConvertError(
            f"{why}opset {own} is older than {opset} and cannot be upgraded: {one_line(e)}"
        ) from None
