"""What is known of an ONNX node before it is lowered: its attributes, and its inputs' types."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from ..ir import Tensor


class Signature:
    """op: operator type; opset: version of its domain; proto: the ONNX node.

    inputs: Tensors, None where absent; their data are known for constants only.
    """

    def __init__(self, proto: onnx.NodeProto, opset: int, inputs: Sequence[Tensor | None]):
        self.proto = proto
        self.op = proto.op_type
        self.opset = opset
        self.inputs = list(inputs)

    def input(self, i: int) -> Tensor | None:
        """The i-th input; None where it is left out."""
        return self.inputs[i] if i < len(self.inputs) else None

    def attr(self, name: str, default=None):
        """An attribute's value (bytes decoded to str), or the default."""
        for a in self.proto.attribute:
            if a.name == name:
                value = helper.get_attribute_value(a)
                return value.decode() if isinstance(value, bytes) else value
        return default
