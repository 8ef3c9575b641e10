"""What the rewrites of quantized regions speak of.

In the names here Q is QuantizeLinear, DQ is DequantizeLinear.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper

from ..protos import copied

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
BYTES = (UINT8, INT8)
MS = "com.microsoft"
INTEGERS = (UINT8, INT8, 4, 5, INT32, 21, 22, 25, 26)
_QDQ_DOMAINS = ("", "ai.onnx", MS)


class StaysFloat(Exception):
    """Why a node between DQ and Q has no integer form; the text is for people."""


@dataclass(frozen=True)
class Scaled:
    """Integers with the scale and zero point that a DQ or Q gives them.

    values: name of the integers; dtype: ONNX's number; zero: of the integers' dtype; axis: of the
    scales, where there are several.
    """

    values: str
    dtype: int
    scale: np.ndarray
    zero: np.ndarray
    axis: int = 0

    @property
    def is_bytes(self) -> bool:
        """True for 8 bits with one scale."""
        return self.dtype in BYTES and self.scale.size == 1

    def same_scale(self, other: Scaled) -> bool:
        return (
            self.dtype == other.dtype
            and np.array_equal(self.scale.ravel(), other.scale.ravel())
            and np.array_equal(self.zero.ravel(), other.zero.ravel())
        )


def attribute(node: onnx.NodeProto, name: str, default=None):
    """An attribute's value."""
    for a in node.attribute:
        if a.name == name:
            return helper.get_attribute_value(a)
    return default


def with_names(
    node: onnx.NodeProto, inputs: Iterable[str], outputs: Iterable[str]
) -> onnx.NodeProto:
    """The same operator with other inputs and outputs."""
    copy = copied(node)
    copy.input[:], copy.output[:] = inputs, outputs
    return copy


def is_q(node: onnx.NodeProto | None) -> bool:
    return node is not None and node.op_type == "QuantizeLinear" and node.domain in _QDQ_DOMAINS


def is_dq(node: onnx.NodeProto | None) -> bool:
    return node is not None and node.op_type == "DequantizeLinear" and node.domain in _QDQ_DOMAINS


def dequantize(values: np.ndarray, q: Scaled) -> np.ndarray:
    """The float32 that DQ gives for a constant."""
    shape = [1] * values.ndim
    if q.scale.size > 1:
        shape[q.axis] = -1
    scale, zero = (v.reshape(shape if v.size > 1 else ()) for v in (q.scale, q.zero))
    wide = values.astype(np.int64) - zero.astype(np.int64)
    return wide.astype(np.float32) * scale
