"""Take models to the IR and back, where large constants stay placeholders: external_weights.py."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir

from . import external_weights
from .external_weights import DTYPES, FOLDER, array_at, weights_at

_META = "mpconnxr.weights"  # key in the metadata of a model in the IR: its ExternalWeights


class _Placeholder(onnx_ir.ExternalTensor):
    """A large constant in the IR that holds only the location of its numbers.

    The numbers are read at their first use; a message of the model gets the location.
    """

    def _load(self):
        self._array = array_at(self.location)

    def tobytes(self):
        return self.numpy().tobytes()


def to_ir(model: onnx.ModelProto) -> onnx_ir.Model:
    """Return a model in the IR."""
    converted = onnx_ir.from_proto(model)
    for value in converted.graph.initializers.values():
        t = value.const_value
        if isinstance(t, onnx_ir.ExternalTensor) and str(t.location).startswith(FOLDER):
            value.const_value = _placeholder_in_ir(value, t.location, t.length, t.dtype, t.shape)
            converted.meta[_META] = weights_at(t.location)
    return converted


def from_ir(model: onnx_ir.Model) -> onnx.ModelProto:
    """Return the message of a model in the IR.

    New large constants get placeholders if the model had some when it came to the IR.
    """
    weights = model.meta.get(_META)
    if weights is not None:
        for value in model.graph.initializers.values():
            t = value.const_value
            is_large = isinstance(t, onnx_ir.Tensor) and t.nbytes >= external_weights.LEAST
            if is_large and t.dtype.value in DTYPES:
                location = weights.keep(np.ascontiguousarray(t.numpy()))
                value.const_value = _placeholder_in_ir(value, location, t.nbytes, t.dtype, t.shape)
    return onnx_ir.to_proto(model)


def _placeholder_in_ir(value, location, length, dtype, shape):
    before = value.const_value
    return _Placeholder(
        location,
        None,
        length,
        dtype,
        shape=shape,
        name=value.name,
        doc_string=before.doc_string,
        metadata_props=dict(before.metadata_props),
    )
