"""Fix the dims that a model leaves open: by --shape, --dim, --bind, or 1 for a leading dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from ..errors import UsageError
from . import extent, extent_forms


def fix(
    model: onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]],
    dims: Mapping[str, int],
    bind: Mapping[str, np.ndarray],
    bounds: Mapping[str, int] | None = None,
) -> list[str]:
    """Fix or bound the dims of a model's inputs, in place.

    Args:
        model: the model.
        shapes: dims by input name.
        dims: value by symbolic name.
        bind: contents by input name; the input becomes a constant.
        bounds: largest value by symbolic name, for dims that each run decides.

    Returns:
        A note for each choice that the user did not make.

    Raises:
        UsageError: if a name does not exist or a shape does not fit.
    """
    _check_sizes(shapes, dims, bounds or {})
    _bind(model, bind)
    known = dict(dims)
    inputs = {i.name: i for i in model.graph.input}
    notes: list[str] = []
    for name, shape in shapes.items():
        if name not in inputs:
            raise UsageError(f"--shape: no input {name}; there are {', '.join(inputs)}")
        notes += _set_shape(inputs[name], shape, known)
    _check_names(model, dims)
    dims_of_runs = _dims_of_runs(model, known, bounds or {})
    for name in dims_of_runs:
        known[name] = extent_forms.symbol(extent.size(name, bounds[name]))
    notes += _default_leading(model, known)
    for value in list(model.graph.input) + list(model.graph.output):
        _apply(value, known)
    if dims_of_runs:
        _forget_symbols(model)
    return notes


def _bind(model, bind):
    inputs = {i.name: i for i in model.graph.input}
    for name, value in bind.items():
        if name not in inputs:
            raise UsageError(f"--bind: no input {name}; there are {', '.join(inputs)}")
        expected = onnx.helper.tensor_dtype_to_np_dtype(inputs[name].type.tensor_type.elem_type)
        value = np.asarray(value)
        if value.dtype != expected and not np.can_cast(value.dtype, expected, "same_kind"):
            raise UsageError(f"--bind {name}: {value.dtype} given, {expected} needed")
        model.graph.initializer.append(numpy_helper.from_array(value.astype(expected), name))
        model.graph.input.remove(inputs[name])


def _dims(value):
    return value.type.tensor_type.shape.dim


def _set_shape(value, shape, known):
    """Give an input a shape; return a note if that makes a fixed batch smaller."""
    if not value.type.tensor_type.HasField("shape"):
        for size in shape:
            _dims(value).add().dim_value = size
        return []
    if len(shape) != len(_dims(value)):
        raise UsageError(f"--shape {value.name}: {len(_dims(value))} dimensions needed")
    notes = []
    for i, (dim, size) in enumerate(zip(_dims(value), shape, strict=True)):
        if not _is_free(dim) and dim.dim_value != size:
            if i or not 0 < size < dim.dim_value:
                raise UsageError(f"--shape {value.name}: a dimension is fixed to {dim.dim_value}")
            text = f"first dimension is {size}, and not {dim.dim_value}, as the file has it"
            notes.append(f"{value.name}: {text}")
        if dim.dim_param:
            known.setdefault(dim.dim_param, size)
        dim.dim_value = size
    return notes


def _check_sizes(shapes, dims, bounds):
    sizes = [("--shape", name, size) for name, shape in shapes.items() for size in shape]
    sizes += [("--dim", name, size) for name, size in dims.items()]
    for option, name, size in sizes:
        if size < 0:
            raise UsageError(f"{option} {name}: a dimension cannot be {size}")
    for name, most in bounds.items():
        if most < 1:
            raise UsageError(f"--bound {name}={most}: a number from 1 is needed")


def _check_names(model, dims):
    names = {d.dim_param for i in model.graph.input for d in _dims(i) if d.dim_param}
    names |= {d.dim_param for o in model.graph.output for d in _dims(o) if d.dim_param}
    for name in dims:
        if name not in names:
            there = f"there are {', '.join(sorted(names))}" if names else "all are fixed"
            raise UsageError(f"--dim: no dimension {name}; {there}")


def _forget_symbols(model):
    """Remove the symbolic dims of outputs, which would hide the dims that inference finds."""
    for value in model.graph.output:
        for dim in _dims(value):
            if dim.dim_param and extent_forms.parsed(dim.dim_param) is None:
                dim.ClearField("dim_param")


def _dims_of_runs(model, known, bounds):
    """Return the names of inputs' dims that each run decides."""
    named = {d.dim_param for i in model.graph.input for d in _dims(i)}
    return [name for name in bounds if name in named and name not in known]


def _is_free(dim):
    if extent_forms.parsed(dim.dim_param) is not None:
        return False
    return not dim.HasField("dim_value") or dim.dim_value < 0


def _default_leading(model, known):
    notes = []
    for value in model.graph.input:
        dims = _dims(value)
        if not dims or not _is_free(dims[0]) or dims[0].dim_param in known:
            continue
        if dims[0].dim_param:
            known[dims[0].dim_param] = 1
        name = dims[0].dim_param or "first dimension"
        dims[0].dim_value = 1
        notes.append(f"{value.name}: {name} taken as 1 (--dim or --shape sets it)")
    return notes


def _apply(value, known):
    for dim in _dims(value):
        if dim.dim_param in known:
            size = known[dim.dim_param]
            if isinstance(size, str):
                dim.dim_param = size
            else:
                dim.dim_value = size
        elif dim.dim_value < 0:  # some exporters write free dims so
            dim.ClearField("dim_value")


def twin_of(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return the model with other bounds of dims that runs decide; None without such dims.

    Lowering converts the model and this twin: numbers that differ between both must follow a
    run-time dim (see runtime.py).
    """
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    is_open = False
    for value in list(twin.graph.input) + list(twin.graph.output):
        for dim in _dims(value):
            size = extent_forms.parsed(dim.dim_param, True)
            if size is not None:
                is_open = True
                dim.dim_param = extent_forms.symbol(size)
    return twin if is_open else None


def open_dims(model: onnx.ModelProto) -> list[str]:
    """Return the inputs that still have a free dim, as 'name [1, time, 3]'."""
    texts = []
    for value in model.graph.input:
        if any(_is_free(d) for d in _dims(value)):
            shape = ", ".join(
                str(d.dim_value) if not _is_free(d) else d.dim_param or "?" for d in _dims(value)
            )
            texts.append(f"{value.name} [{shape}]")
    return texts
