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


# Bytes of an element in the arena, by dtype; 0 for objects, which are not there.
ITEMSIZES = {
    **{n: helper.tensor_dtype_to_np_dtype(n).itemsize for n in helper.get_all_tensor_dtypes()},
    **dict.fromkeys(objects.OBJECTS, 0),
}
