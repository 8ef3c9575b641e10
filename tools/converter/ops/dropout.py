"""Dropout -> nothing: at inference, and where it drops nothing, it hands its input on."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from . import lowers


@lowers("Dropout", fixes_shape=(1, 2), at_run_time=(1,))
def lower_dropout(node):
    """training_mode is an input from opset 12 on; before that Dropout only exists at inference."""
    trains = node.input(2) is not None and node.const(2, "training_mode").any()
    if trains and _ratio(node) != 0:
        raise Problem("training_mode is true", "export the model for inference")
    node.alias(node.outputs[0], node.inputs[0])
    if len(node.outputs) > 1 and node.outputs[1] is not None:
        mask = node.outputs[1]
        mask.data = np.ones(mask.shape, mask.np_dtype)


def _ratio(node):
    """What part is dropped; 1/2 where it is left out."""
    return 0.5 if node.input(1) is None else node.const(1, "ratio").item()
