"""Names and sizes of dtypes, by ONNX's numbers."""

from __future__ import annotations

import onnx
from onnx import helper

from mpconnxr.tensor import packed_bits  # noqa: F401 (for whoever imports it from here)

from . import objects


def dtype_name(dtype: int) -> str:
    """Return the name of an ONNX dtype, or of a map's: 'float32', ..."""
    if objects.is_map(dtype):
        return objects.map_name(dtype)
    return (
        "float32"
        if dtype == 1
        else onnx.TensorProto.DataType.Name(dtype).lower().replace("double", "float64")
    )


def itemsize(dtype: int) -> int:
    """Return the bytes of an element in the arena; 0 for objects, which are not there."""
    if objects.is_object(dtype):
        return 0
    return helper.tensor_dtype_to_np_dtype(dtype).itemsize
