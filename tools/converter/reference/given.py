"""Inputs and outputs of the golden vector that the user gives: do they fit the model?"""

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
    """The arrays as the inputs take them, in order, but for states. Raises UsageError."""
    infos = [i for i in model.graph.input if i.name not in states]
    return _all_checked("--golden", "input", infos, arrays)


def checked_outputs(
    model: onnx.ModelProto,
    arrays: Sequence[np.ndarray],
    states: Collection[str] = (),
    quantized: onnx.ModelProto | None = None,
) -> list[np.ndarray]:
    """Return the arrays as the outputs give them, in order, but for states. Raises UsageError.

    Maps and sequences are not looked at.

    Args:
        model: whose outputs they are.
        arrays: the outputs.
        states: names of outputs that are not given.
        quantized: the same model with integers: an output may be given as in this one.

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
        wanted = "; ".join(map(_described, infos)) or "none"
        raise UsageError(f"{option}: {len(arrays)} given, {len(infos)} needed: {wanted}")
    return [_checked(x, info, f"{option}: {kind}") for x, info in zip(arrays, infos, strict=True)]


def _checked(x, info, what):
    tensor = info.type.tensor_type
    if tensor.elem_type == TensorProto.STRING and x.dtype.kind not in "OUS":
        raise UsageError(f"{what} {_described(info)} is given {x.dtype}: strings are needed")
    if tensor.elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        return x  # strings and maps: a model that takes them gets no golden vector
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if x.dtype.kind == "V" and x.dtype.itemsize == dtype.itemsize:
        x = x.view(dtype)  # how .npy holds a dtype that numpy itself does not know
    if x.dtype.newbyteorder("=") != dtype:
        found = f"is given {x.dtype}: convert it with .astype()"
        raise UsageError(f"{what} {_described(info)} {found}")
    if tensor.HasField("shape") and not _fits(x.shape, tensor.shape.dim):
        raise UsageError(f"{what} {_described(info)} is given shape {list(x.shape)}")
    return x.astype(dtype, order="C", copy=False)


def dtype_of(info):
    """Return numpy's dtype of a tensor; None for strings and for what is no tensor."""
    kind = info.type.tensor_type.elem_type
    is_of_numbers = kind not in (TensorProto.UNDEFINED, TensorProto.STRING)
    return helper.tensor_dtype_to_np_dtype(kind) if is_of_numbers else None


def _fits(shape, dims):
    """True for a dim that each run decides, whatever its size."""
    return len(shape) == len(dims) and all(
        d.dim_value == n for d, n in zip(dims, shape, strict=True) if d.HasField("dim_value")
    )


def _described(info):
    """'x float32 [1, 3]'."""
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
