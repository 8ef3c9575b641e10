"""Keep large constants outside of their models, which have placeholders for them.

A protobuf message owns its bytes, so that each copy of a model, each inference of its shapes and
each way to the IR and back copies all weights. In a large model placeholders take their place: a
TensorProto without contents, which refers to other data as a tensor in an external file does. The
arrays lie in an ExternalWeights, which belongs to the conversion.

All passes behind the import read constants by `array_of`, make them by `tensor_of`, and go to the
IR and back by `to_ir` and `from_ir` of ir_weights.py.
"""

from __future__ import annotations

import gc
import hashlib
import itertools
from weakref import WeakValueDictionary

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from .protos import copied

Arrays = dict[str, np.ndarray]

LEAST_MODEL = 8 << 20  # bytes of constants of a model that gets placeholders
LEAST = 64 << 10  # bytes of a constant that gets one

FOLDER = "\0weights/"  # no file has such a name; NUMBER OF THE WEIGHTS/NUMBER OF THE ARRAY follow
# What onnx's inference wants to read (shapes, axes) is not among them, nor what it packs.
DTYPES = {
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.INT16,
    TensorProto.UINT16,
}
_numbers = itertools.count()
_all: WeakValueDictionary[str, ExternalWeights] = WeakValueDictionary()


class ExternalWeights:
    """The large constants of one conversion's models.

    Placeholders can be read as long as their ExternalWeights exist.
    """

    def __init__(self):
        self._arrays: Arrays = {}
        self._folder = f"{FOLDER}{next(_numbers)}/"
        _all[self._folder] = self

    def __len__(self) -> int:
        return len(self._arrays)

    def with_placeholders(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return a copy with placeholders; the model itself if it is too small for that."""
        tensors = model.graph.initializer
        if sum(t.ByteSize() for t in tensors) < LEAST_MODEL:
            return model
        copy = onnx.ModelProto()
        for field, value in model.ListFields():
            if field.name != "graph":
                _put(copy, field, value)
        for field, value in model.graph.ListFields():
            if field.name != "initializer":
                _put(copy.graph, field, value)
        copy.graph.initializer.extend(self._placeholder_of(t) for t in tensors)
        return copy

    def _placeholder_of(self, tensor):
        if tensor.data_type not in DTYPES or tensor.ByteSize() < LEAST:
            return tensor
        new = self._placeholder(numpy_helper.to_array(tensor), tensor.name, tensor.data_type)
        if tensor.doc_string:
            new.doc_string = tensor.doc_string
        new.metadata_props.extend(tensor.metadata_props)
        return new

    def _placeholder(self, array, name, dtype):
        new = TensorProto(name=name, data_type=dtype, dims=array.shape)
        new.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self.keep(array)), ("length", str(array.nbytes))):
            new.external_data.add(key=key, value=value)
        return new

    def keep(self, array: np.ndarray) -> str:
        """Keep an array; return the location for its placeholder."""
        location = f"{self._folder}{next(_numbers)}"
        self._arrays[location] = array
        return location

    def release_others(self, *models: onnx.ModelProto) -> None:
        """Release the arrays that the passed models do not use."""
        used = {_location(t) for model in models for t in model.graph.initializer}
        for location in self._arrays.keys() - used:
            self._arrays.pop(location)
        if self._arrays:
            gc.collect()  # the IR's values lie in cycles, and with them arrays that were read


def _put(message, field, value):
    if field.is_repeated:
        getattr(message, field.name).extend(value)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(value)
    else:
        setattr(message, field.name, value)


def _location(tensor) -> str:
    """Return the location in a placeholder; "" for another tensor."""
    if tensor.data_location != TensorProto.EXTERNAL or not tensor.external_data:
        return ""
    location = tensor.external_data[0].value
    return location if location.startswith(FOLDER) else ""


def weights_at(location: str) -> ExternalWeights:
    """Return the ExternalWeights that hold the array at a location."""
    return _all[location[: location.rindex("/") + 1]]


def array_at(location: str) -> np.ndarray:
    """Return the array at a location."""
    return weights_at(location)._arrays[location]


def array_of(tensor: TensorProto) -> np.ndarray:
    """Return the contents of a constant, also of a placeholder."""
    location = _location(tensor)
    return array_at(location) if location else numpy_helper.to_array(tensor)


def nbytes_of(tensor: TensorProto) -> int:
    """Return about how many bytes a constant has."""
    location = _location(tensor)
    return array_at(location).nbytes if location else tensor.ByteSize()


def tensor_of(array: np.ndarray, name: str, like: TensorProto) -> TensorProto:
    """Return a new constant; a large one is a placeholder if its model has placeholders.

    Args:
        array: its contents.
        name: its name.
        like: a constant of the same model, which shows whether it has placeholders.
    """
    if (location := _location(like)) and array.nbytes >= LEAST:
        dtype = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        if dtype in DTYPES:
            weights = weights_at(location)
            return weights._placeholder(np.ascontiguousarray(array), name, dtype)
    return numpy_helper.from_array(array, name)


def digest_of(array: np.ndarray) -> bytes:
    """Return a digest of the bytes, without a copy of them if they are many."""
    if array.nbytes < LEAST:
        return array.tobytes()
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).digest()


def constants_of(model: onnx.ModelProto) -> Arrays:
    """Return the arrays of a model's placeholders, by name of the constant."""
    locations = {t.name: _location(t) for t in model.graph.initializer}
    return {name: array_at(location) for name, location in locations.items() if location}


def without_placeholders(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy with all its constants; the model itself if it has no placeholders."""
    arrays = constants_of(model)
    if not arrays:
        return model
    copy = copied(model)
    for t in copy.graph.initializer:
        if t.name in arrays:
            t.ClearField("external_data")
            t.ClearField("data_location")
            t.raw_data = arrays[t.name].tobytes()
    return copy
