"""A node's attributes and input types, as inference and lowering see them."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from ..ir import Tensor


class Signature:
    """A node before it is lowered.

    Attributes:
        proto: the ONNX node.
        op: operator type.
        opset: version of its domain.
        inputs: tensors, None where omitted; only constants have data.
    """

    def __init__(self, proto: onnx.NodeProto, opset: int, inputs: Sequence[Tensor | None]):
        self.proto = proto
        self.op = proto.op_type
        self.opset = opset
        self.inputs = list(inputs)

    def input(self, i: int) -> Tensor | None:
        """Return the i-th input, None if it is omitted."""
        return self.inputs[i] if i < len(self.inputs) else None

    def attr(self, name: str, default=None):
        """Return the value of an attribute, bytes as str, or the default."""
        for a in self.proto.attribute:
            if a.name == name:
                value = helper.get_attribute_value(a)
                return value.decode() if isinstance(value, bytes) else value
        return default
