"""Read quantized values: integers, their scales and zero points, and what reads them.

In the names and docstrings of this folder Q is QuantizeLinear, DQ is DequantizeLinear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import defs, helper

from ...shapes import extent_forms
from ...shapes.extent import Extent
from .. import _graph as g

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64 = 1, 2, 3, 4, 5, 6, 7
BYTES = (UINT8, INT8)
WIDE = (UINT16, INT16)
_ARRAY = "array"  # key in a value's metadata: its contents
_INTEGERS = (*BYTES, *WIDE, INT32, 21, 22, 25, 26)


class StaysFloat(Exception):
    """The reason why a node between DQ and Q has no integer form; the text is for people."""


@dataclass(frozen=True)
class Scaled:
    """Integers with the scale and zero point of the DQ or Q node that reads or makes them.

    Attributes:
        values: the integers.
        dtype: ONNX's number.
        scale: float32: one, or one for each index of an axis.
        zero: the zero points, of the integers' dtype.
        axis: axis of the scales, if there are several.
    """

    values: ir.Value
    dtype: int
    scale: np.ndarray
    zero: np.ndarray
    axis: int = 0

    @property
    def is_bytes(self) -> bool:
        """True for 8 bits with one scale."""
        return self.dtype in BYTES and self.scale.size == 1

    def has_scale_of(self, other: Scaled) -> bool:
        """Return True if equal integers of both mean equal floats."""
        return (
            self.dtype == other.dtype
            and np.array_equal(self.scale.ravel(), other.scale.ravel())
            and np.array_equal(self.zero.ravel(), other.zero.ravel())
        )


def is_q(node: ir.Node | None) -> bool:
    return g.is_op(node, "QuantizeLinear") or g.is_op(node, "QuantizeLinear", domain=g.MS)


def is_dq(node: ir.Node | None) -> bool:
    return g.is_op(node, "DequantizeLinear") or g.is_op(node, "DequantizeLinear", domain=g.MS)


def shape_of(value: ir.Value | None) -> list[int] | None:
    """Return the dims, Extents where a run decides them; None if one is not known."""
    if value is None or value.shape is None:
        return None
    dims = [
        d if isinstance(d, int) else extent_forms.parsed(d.value or "") for d in value.shape.dims
    ]
    if any(d is None or not isinstance(d, Extent) and d < 0 for d in dims):
        return None
    return dims


def dtype_of(value: ir.Value) -> int:
    """Return ONNX's number of a tensor's dtype; 0 if it is unknown."""
    is_tensor = isinstance(value.type, ir.TensorType)
    return value.dtype.value if is_tensor and value.dtype is not None else 0


def array_of(value: ir.Value | None) -> np.ndarray | None:
    """Return the contents of a constant; None for all other values."""
    if value is None or value.const_value is None:
        return None
    if _ARRAY not in value.meta:  # a message is read anew each time
        value.meta[_ARRAY] = value.const_value.numpy()
    return value.meta[_ARRAY]


def floats_of(value: ir.Value) -> np.ndarray | None:
    """Return the contents of a float32 constant, also if it is DQ of constant integers."""
    array = array_of(value)
    if array is not None:
        return array if array.dtype == np.float32 else None
    q = dequantized(value)
    values = None if q is None else array_of(q.values)
    return None if values is None else dequantize(values, q)


def dequantize(values: np.ndarray, q: Scaled) -> np.ndarray:
    """Return the float32 that DQ makes of constant integers."""
    shape = [1] * values.ndim
    if q.scale.size > 1:
        shape[q.axis] = -1
    scale, zero = (v.reshape(shape if v.size > 1 else ()) for v in (q.scale, q.zero))
    wide = values.astype(np.int64) - zero.astype(np.int64)
    return wide.astype(np.float32) * scale


def dequantized(value: ir.Value | None) -> Scaled | None:
    """Return the integers that a DQ makes a value of, if its float32 scale is constant."""
    node = None if value is None else value.producer()
    if not is_dq(node) or g.attr(node, "block_size", 0):
        return None
    return _scaled(node, node.inputs[0])


def quantized(node: ir.Node) -> Scaled | None:
    """Return the integers that a Q node makes, if their float32 scale is constant."""
    if g.attr(node, "block_size", 0) or g.attr(node, "precision", FLOAT) != FLOAT:
        return None
    return _scaled(node, node.outputs[0])


def _scaled(node, values):
    scale, dtype = array_of(node.inputs[1]), dtype_of(values)
    if scale is None or scale.dtype != np.float32 or dtype not in _INTEGERS:
        return None
    if not (scale > 0).all():  # else the order of the integers is not that of the floats
        return None
    zero = np.zeros(scale.shape, helper.tensor_dtype_to_np_dtype(dtype))
    if g.input_of(node, 2) is not None:
        zero = array_of(node.inputs[2])
        if zero is None:
            return None
    return Scaled(values, dtype, scale, zero, g.attr(node, "axis", 1))


def readers_of(value: ir.Value) -> list[ir.Node]:
    """Return the nodes of the value's own graph that read it; one that does twice, twice."""
    return [use.node for use in value.uses() if use.node.graph is value.graph]


def is_kept(value: ir.Value) -> bool:
    """Return True for an output of the graph, and for a value that a subgraph reads."""
    return value.is_graph_output() or len(readers_of(value)) < len(value.uses())


def sole_reader(value: ir.Value) -> ir.Node | None:
    """Return the only node that reads a value, in its own graph; None for an output."""
    reader = g.sole_reader(value)
    return reader if reader is not None and reader.graph is value.graph else None


def quantizer(value: ir.Value) -> ir.Node | None:
    """Return the Q that alone reads a value, if its scale is one constant in float32."""
    node = sole_reader(value)
    if not is_q(node) or node.inputs[0] is not value:
        return None
    q = quantized(node)
    return node if q is not None and q.scale.size == 1 else None


def takes(op_type: str, opset: int, dtype: int) -> bool:
    """Return True if the first input of ONNX's operator may have a dtype at an opset."""
    try:
        types = defs.get_schema(op_type, opset, "").inputs[0].types
    except defs.SchemaError:
        return False
    return f"tensor({onnx.TensorProto.DataType.Name(dtype).lower()})" in types
