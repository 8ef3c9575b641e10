"""Write plain tensors in the container of models, to feed test vectors to a board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import external_data_helper, helper, numpy_helper

from tools.format.objects import STRING

from .. import protos
from ..errors import ConvertError
from ..ir import Tensor
from ..load.arrayfile import read_array
from .writer import tensor_bytes


def tensor_file(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of a tensor file with these named arrays, in order."""
    tensors = []
    for name, array in arrays.items():
        array = np.asarray(array)
        is_text = array.dtype.kind in "OSU"
        dtype = STRING if is_text else helper.np_dtype_to_tensor_dtype(array.dtype)
        tensors.append(Tensor(name, dtype, array.shape, array))
    return tensor_bytes(tensors)


def convert_tensor(source: Path, target: Path) -> None:
    """Convert a .pb (serialized TensorProto) or .npy to a tensor file.

    Raises:
        ConvertError: if the file is not a tensor.
        OSError: if a file cannot be read or written.
    """
    try:
        if source.suffix == ".npy":
            name, array = source.stem, read_array(source)
        else:
            proto = onnx.TensorProto.FromString(source.read_bytes())
            protos.make_printable(proto)
            if external_data_helper.uses_external_data(proto):
                raise ConvertError(f"{source} has external data: save it in one file")
            name, array = proto.name or source.stem, numpy_helper.to_array(proto)
    except (ConvertError, OSError):
        raise
    except Exception as e:  # protobuf and numpy raise many kinds for a damaged file
        raise ConvertError(f"{source} is not a tensor: {e}") from None
    target.write_bytes(tensor_file({name: array}))
