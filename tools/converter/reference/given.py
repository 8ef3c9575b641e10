"""Check that the inputs and outputs that the user gives for the golden vector fit the model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from ..errors import UsageError
from ..shapes import extent_forms


def checked(
    model: onnx.ModelProto, arrays: Sequence[np.ndarray], states: Collection[str] = ()
) -> list[np.ndarray]:
    """Return the arrays in the form that the inputs take, in order.

    Raises:
        UsageError: if an array does not fit.
    """
    infos = [i for i in model.graph.input if i.name not in states]
    return _all_checked("--golden", "input", infos, arrays)


def checked_outputs(
    model: onnx.ModelProto,
    arrays: Sequence[np.ndarray],
    states: Collection[str] = (),
    quantized: onnx.ModelProto | None = None,
) -> list[np.ndarray]:
    """Return the arrays in the form that the outputs have, in order. Maps are not checked.

    Args:
        model: the model with these outputs.
        arrays: one for each output that is not a state.
        states: names of outputs that are states.
        quantized: the quantized model; an output may be integers as in this model.

    Raises:
        UsageError: if an array does not fit.
    """
    infos = [o for o in model.graph.output if o.name not in states]
    others = {o.name: o for o in quantized.graph.output} if quantized else {}
    for i, x in enumerate(arrays[: len(infos)]):
        other = others.get(infos[i].name)
        if other is not None and x.dtype.kind in "iu" and dtype_of(other) == x.dtype:
            infos[i] = other
    return _all_checked("--expect", "output", infos, arrays)


def _all_checked(option, kind, infos, arrays):
    if len(arrays) != len(infos):
        needed = "; ".join(map(_described, infos)) or "none"
        raise UsageError(f"{option}: {len(arrays)} given, {len(infos)} needed: {needed}")
    return [_checked(x, info, f"{option}: {kind}") for x, info in zip(arrays, infos, strict=True)]


def _checked(x, info, what):
    tensor = info.type.tensor_type
    if tensor.elem_type == TensorProto.STRING and x.dtype.kind not in "OUS":
        raise UsageError(f"{what} {_described(info)} is given {x.dtype}: strings are needed")
    if tensor.elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        return x  # strings and maps, with which a model gets no golden vector
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if x.dtype.kind == "V" and x.dtype.itemsize == dtype.itemsize:
        x = x.view(dtype)  # .npy stores dtypes that numpy does not know as V
    if x.dtype.newbyteorder("=") != dtype:
        problem = f"is given {x.dtype}: convert it with .astype()"
        raise UsageError(f"{what} {_described(info)} {problem}")
    if tensor.HasField("shape") and not _fits(x.shape, tensor.shape.dim):
        raise UsageError(f"{what} {_described(info)} is given shape {list(x.shape)}")
    return x.astype(dtype, order="C", copy=False)


def dtype_of(info):
    """Return numpy's dtype of a tensor of numbers, None for strings and other values."""
    kind = info.type.tensor_type.elem_type
    is_of_numbers = kind not in (TensorProto.UNDEFINED, TensorProto.STRING)
    return helper.tensor_dtype_to_np_dtype(kind) if is_of_numbers else None


def _fits(shape, dims):
    """Return True if a shape fits; a dim that each run decides fits any size."""
    return len(shape) == len(dims) and all(
        d.dim_value == n for d, n in zip(dims, shape, strict=True) if d.HasField("dim_value")
    )


def _described(info):
    """Return the name, dtype and shape of an input or output, such as 'x float32 [1, 3]'."""
    tensor = info.type.tensor_type
    if tensor.elem_type == TensorProto.UNDEFINED:
        return info.name
    dtype = TensorProto.DataType.Name(tensor.elem_type).lower()
    if tensor.elem_type != TensorProto.STRING:
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    dims = (
        str(d.dim_value if d.HasField("dim_value") else extent_forms.parsed(d.dim_param) or "?")
        for d in tensor.shape.dim
    )
    return f"{info.name} {dtype} [{', '.join(dims)}]"
