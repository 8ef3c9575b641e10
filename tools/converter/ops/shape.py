"""Operators that only change a shape: no step, no copy."""

from __future__ import annotations

from . import lowers


@lowers("Reshape", fixes_shape=(1,), at_run_time=(1,))
@lowers("Squeeze", "Unsqueeze", fixes_shape=(1,))
@lowers("Flatten", "Identity")
def lower_alias(node):
    node.alias(node.outputs[0], node.inputs[0])
