"""Large constants beside the model that they are of.

A protobuf message owns its bytes, so that each copy of a model, each inference of its shapes and
each way to the IR and back copies all weights. In a large model stand-ins take their place: a
tensor without contents, in the form of one whose data lie in another file, and here its array.
All that follows stage 1 reads constants by `array_of`, makes them by `tensor_of`, and goes to the
IR and back by `to_ir` and `from_ir`.
"""

from __future__ import annotations

import gc
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import onnx
import onnx_ir
from onnx import TensorProto, numpy_helper

from .protos import copied

Arrays = dict[str, np.ndarray]

LEAST_MODEL = 8 << 20  # bytes of constants of a model that gets stand-ins
LEAST = 64 << 10  # bytes of a constant that gets one

_FOLDER = "\0aside/"  # no file has such a name
# What onnx's inference wants to read (shapes, axes) is not among them, nor what it packs.
_DTYPES = {
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.INT16,
    TensorProto.UINT16,
}
_numbers = itertools.count()
_arrays: ContextVar[Arrays | None] = ContextVar("arrays", default=None)


@contextmanager
def kept() -> Iterator[Arrays]:
    """Arrays that stand-ins may be made for while this lasts."""
    token = _arrays.set({})
    try:
        yield _arrays.get()
    finally:
        _arrays.reset(token)


def with_stand_ins(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with stand-ins; the model itself where it is too small for that."""
    arrays = _arrays.get()
    tensors = model.graph.initializer
    if arrays is None or sum(t.ByteSize() for t in tensors) < LEAST_MODEL:
        return model
    found = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _put(found, field, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _put(found.graph, field, value)
    found.graph.initializer.extend(_stand_in_of(t) for t in tensors)
    return found


def _put(message, field, value):
    if field.is_repeated:
        getattr(message, field.name).extend(value)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(value)
    else:
        setattr(message, field.name, value)


def _stand_in_of(tensor):
    if tensor.data_type not in _DTYPES or tensor.ByteSize() < LEAST:
        return tensor
    found = _stand_in(numpy_helper.to_array(tensor), tensor.name, tensor.data_type)
    if tensor.doc_string:
        found.doc_string = tensor.doc_string
    found.metadata_props.extend(tensor.metadata_props)
    return found


def _stand_in(array, name, dtype):
    found = TensorProto(name=name, data_type=dtype, dims=array.shape)
    found.data_location = TensorProto.EXTERNAL
    for key, value in (("location", _kept(array)), ("length", str(array.nbytes))):
        found.external_data.add(key=key, value=value)
    return found


def _kept(array):
    name = f"{_FOLDER}{next(_numbers)}"
    _arrays.get()[name] = array
    return name


def _location(tensor) -> str:
    """Of a stand-in; else ""."""
    if tensor.data_location != TensorProto.EXTERNAL or not tensor.external_data:
        return ""
    location = tensor.external_data[0].value
    return location if location.startswith(_FOLDER) else ""


def array_of(tensor: TensorProto) -> np.ndarray:
    """Contents of a constant, whether it has a stand-in or not."""
    location = _location(tensor)
    return _arrays.get()[location] if location else numpy_helper.to_array(tensor)


def nbytes_of(tensor: TensorProto) -> int:
    """About how many bytes a constant has."""
    location = _location(tensor)
    return _arrays.get()[location].nbytes if location else tensor.ByteSize()


def tensor_of(array: np.ndarray, name: str) -> TensorProto:
    """A constant; a stand-in if it is large and the model has others."""
    if _arrays.get() and array.nbytes >= LEAST:
        dtype = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        if dtype in _DTYPES:
            return _stand_in(np.ascontiguousarray(array), name, dtype)
    return numpy_helper.from_array(array, name)


def digest_of(array: np.ndarray) -> bytes:
    """The same for the same bytes, without a copy of them if they are many."""
    if array.nbytes < LEAST:
        return array.tobytes()
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).digest()


class _Held(onnx_ir.ExternalTensor):
    """A stand-in in the IR; it is written as one."""

    def _load(self):
        self._array = _arrays.get()[self.location]

    def tobytes(self):
        return self.numpy().tobytes()


def to_ir(model: onnx.ModelProto) -> onnx_ir.Model:
    """A model in the IR."""
    found = onnx_ir.from_proto(model)
    for value in found.graph.initializers.values():
        t = value.const_value
        if isinstance(t, onnx_ir.ExternalTensor) and str(t.location).startswith(_FOLDER):
            value.const_value = _held(value, t.location, t.length, t.dtype, t.shape)
    return found


def from_ir(model: onnx_ir.Model) -> onnx.ModelProto:
    """A model out of the IR; what is new in it and large gets a stand-in if others have one."""
    if _arrays.get():
        for value in model.graph.initializers.values():
            t = value.const_value
            if isinstance(t, onnx_ir.Tensor) and t.nbytes >= LEAST and t.dtype.value in _DTYPES:
                location = _kept(np.ascontiguousarray(t.numpy()))
                value.const_value = _held(value, location, t.nbytes, t.dtype, t.shape)
    return onnx_ir.to_proto(model)


def _held(value, location, length, dtype, shape):
    before = value.const_value
    return _Held(
        location,
        None,
        length,
        dtype,
        shape=shape,
        name=value.name,
        doc_string=before.doc_string,
        metadata_props=dict(before.metadata_props),
    )


def keep_those_of(*models: onnx.ModelProto) -> None:
    """Forgets the arrays of all other models."""
    arrays = _arrays.get()
    used = {_location(t) for model in models for t in model.graph.initializer}
    for name in arrays.keys() - used:
        arrays.pop(name)
    if arrays:
        gc.collect()  # what the IR leaves lies in cycles, and the arrays that were looked at in it


def constants_of(model: onnx.ModelProto) -> Arrays:
    """The arrays behind a model's stand-ins by name of the constant."""
    places = {t.name: _location(t) for t in model.graph.initializer}
    return {name: _arrays.get()[place] for name, place in places.items() if place}


def filled(model: onnx.ModelProto, arrays: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """A copy without stand-ins; the model itself if it has none. arrays: see constants_of."""
    if not arrays:
        return model
    found = copied(model)
    for t in found.graph.initializer:
        if t.name in arrays and _location(t):
            t.ClearField("external_data")
            t.ClearField("data_location")
            t.raw_data = arrays[t.name].tobytes()
    return found
