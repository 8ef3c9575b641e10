"""Dropout -> nothing: at inference it hands its input on."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from . import lowers


@lowers("Dropout", fixes_shape=(2,))
def lower_dropout(node):
    """training_mode is an input from opset 12 on; before that Dropout only exists at inference."""
    if node.input(2) is not None and node.const(2, "training_mode").any():
        raise Problem("training_mode is true", "export the model for inference")
    node.alias(node.outputs[0], node.inputs[0])
    if len(node.outputs) > 1 and node.outputs[1] is not None:
        mask = node.outputs[1]
        mask.data = np.ones(mask.shape, mask.np_dtype)
