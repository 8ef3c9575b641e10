"""Understand what callers of the Python API give: models, samples, options, files to write."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import onnx

from mpconnxr.build.reader import MAGIC
from tools.converter.file.interface import Image, image_from
from tools.converter.options import Options
from tools.converter.quantize.settings import Settings
from tools.converter.truth import Spec, split
from tools.errors import ConvertError, UsageError
from tools.limits.options import nbytes
from tools.limits.overwrite import overwritten

PathLike = str | os.PathLike[str]
Model = PathLike | bytes | onnx.ModelProto | Any  # Any: an onnx_ir.Model
# Not labels, the classes of calibration samples, and max_drop, which counts these: see `test`.
_OF_SETTINGS = {f.name for f in fields(Settings)} - {
    "mode",
    "samples",
    "labels",
    "test",
    "max_drop",
}
_OF_OPTIONS = {f.name for f in fields(Options)} - {
    "golden",
    "expect",
    "vector",
    "quantize",
    "seal",
}


def options_of(requested: Mapping[str, Any], mode: str | None, calibration: Any) -> dict[str, Any]:
    """Return attributes of Options; raise UsageError for names that there are not."""
    for name in requested:
        if name not in _OF_OPTIONS | _OF_SETTINGS:
            near = difflib.get_close_matches(name, _OF_OPTIONS | _OF_SETTINGS, n=1)
            hint = f": did you mean {near[0]}?" if near else ""
            raise UsageError(f"convert has no option {name}{hint}")
    quantizing = {name: value for name, value in requested.items() if name in _OF_SETTINGS}
    result: dict[str, Any] = {"float64": "float32"}
    result |= {name: value for name, value in requested.items() if name in _OF_OPTIONS}
    if result.get("ops") is not None:
        result["ops"] = Path(result["ops"])
    for name in ("arena", "window"):
        if isinstance(result.get(name), str):
            result[name] = _nbytes(name, result[name])
    if "images" in result:
        images = result["images"].items()
        result["images"] = {n: i if isinstance(i, Image) else image_from(i) for n, i in images}
    if mode is None:
        if unused := [*quantizing, *(["calibration"] if calibration is not None else [])]:
            raise UsageError(f"{', '.join(unused)}: only with quantize")
        return result
    return result | {"quantize": Settings(mode, calibration_of(calibration), **quantizing)}


def _nbytes(name: str, text: str) -> int:
    try:
        return int(nbytes(text))
    except argparse.ArgumentTypeError as e:
        raise UsageError(f"{name} {e}") from None


def array_of(values: Any) -> np.ndarray:
    """Return values as an array; raise UsageError if their rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError as e:
        raise UsageError(f"samples: {e}") from None


def float32_of(values: Any) -> np.ndarray:
    """Return an array in which Python's floats have the size that models take."""
    array = array_of(values)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def rows_of(specs: Sequence[Spec], samples: Any) -> list[dict[str, np.ndarray]]:
    """Return the arrays of each sample by input; raise UsageError if they do not fit."""
    arrays = samples if isinstance(samples, Mapping) else {specs[0].name: samples}
    if set(arrays) != (names := {spec.name for spec in specs}):
        raise UsageError(
            f"samples of {', '.join(arrays)}; the inputs are {', '.join(sorted(names))}"
        )
    columns = {s.name: split(_typed(arrays[s.name], s), s, "samples") for s in specs}
    counts = {len(column) for column in columns.values()}
    if len(counts) != 1 or counts == {0}:
        raise UsageError("samples: as many are needed of each input, and at least one")
    return [{name: column[i] for name, column in columns.items()} for i in range(*counts)]


def _typed(values: Any, spec: Spec) -> np.ndarray:
    array = float32_of(values)
    is_free = array.dtype.kind == spec.dtype.kind == "f" or spec.dtype == object
    return array.astype(spec.dtype) if is_free else array


def pair_of(test: Any) -> tuple[Any, Any]:
    """Return samples and what is true of them; raise UsageError for anything but a pair."""
    if isinstance(test, list | tuple) and len(test) == 2:
        return test[0], test[1]
    raise UsageError("test: a pair is needed, samples and the class or value of each")


def texts_of(labels: Any) -> tuple[str, ...]:
    """Return the names of classes, of any kind, as texts."""
    return tuple(str(label) for label in np.asarray(labels).reshape(-1))


def calibration_of(values: Any) -> Any:
    """Return samples as Settings.samples takes them."""
    if values is None:
        return ()
    if is_path(values):
        return Path(values)
    if isinstance(values, Mapping):
        return {name: np.asarray(array) for name, array in values.items()}
    if isinstance(values, list | tuple) and values and isinstance(values[0], Mapping):
        return [{name: np.asarray(array) for name, array in s.items()} for s in values]
    return array_of(values)


def arrays_of(values: Any) -> list[np.ndarray] | None:
    """Return the arrays of a golden vector, one an input or output."""
    if values is None:
        return None
    return [np.asarray(v) for v in (values if isinstance(values, list | tuple) else [values])]


def is_bin(path: PathLike) -> bool:
    """Return True if a file starts as a converted model does."""
    with open(path, "rb") as f:
        return f.read(len(MAGIC)) == MAGIC


def check_output(path: Path, model: Any) -> None:
    """Raise UsageError if a file would be written over the model that it is made from."""
    if is_path(model) and (problem := overwritten([path], [Path(model)])):
        raise UsageError(problem)


def is_path(value: Any) -> TypeGuard[PathLike]:
    """Return True for what names a file."""
    return isinstance(value, str | os.PathLike)


def source_of(model: Model) -> Path | onnx.ModelProto:
    """Return a model as the converter takes it; raise UsageError for anything else."""
    if is_path(model):
        return Path(model)
    if isinstance(model, onnx.ModelProto):
        proto: onnx.ModelProto = model
        return proto
    if isinstance(model, bytes | bytearray | memoryview):
        try:
            proto = onnx.ModelProto.FromString(bytes(model))
            return proto
        except Exception as e:  # protobuf's errors have no common class
            raise ConvertError(f"these bytes are no ONNX model: {e}") from None
    import onnx_ir

    if hasattr(model, "model_file"):
        raise UsageError("this model is converted already")
    if isinstance(model, onnx_ir.Model):
        proto = onnx_ir.to_proto(onnx_ir.external_data.load_to_model(model))
        return proto
    hint = ": skl2onnx.to_onnx exports it" if hasattr(model, "get_params") else ""
    kind = type(model).__name__
    raise UsageError(
        f"a model is a path, bytes, an onnx.ModelProto or an onnx_ir.Model, not {kind}{hint}"
    )


def proto_of(source: Path | onnx.ModelProto) -> onnx.ModelProto:
    """Return the message of a model that source_of returned."""
    return onnx.load(source) if isinstance(source, Path) else source


def as_file(model: Model, place: Path) -> Path:
    """Return the path of a model, written to a place if it is in memory."""
    source = source_of(model)
    if isinstance(source, Path):
        return source
    onnx.save(source, place)
    return place


def name_of(model: Model) -> str:
    """Return the name of the file to write, without its suffix."""
    return Path(model).stem if is_path(model) else "model"
