"""Read calibration data from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx

from ..errors import UsageError
from ..load.arrayfile import read_array, read_arrays
from ..protos import free_inputs
from ..truth import Spec, split
from .settings import Settings

Sample = Mapping[str, np.ndarray]


def loaded(settings: Settings, graph: onnx.GraphProto) -> Settings:
    """Return the settings with arrays in the place of files; raise UsageError."""
    samples, labels = settings.samples, settings.labels
    if isinstance(samples, Path):
        path, samples = samples, read_samples(samples, graph)
        if not samples:
            raise UsageError(f"--calibration {path} has no samples")
    elif isinstance(samples, Mapping | np.ndarray):
        inputs = {i.name: i for i in free_inputs(graph)}
        samples = samples_of(samples, inputs, "calibration")
    _check_finite(samples)
    if isinstance(labels, str):
        labels = read_labels(labels, len(samples))
    return replace(settings, samples=samples, labels=labels)


def read_samples(path: Path, graph: onnx.GraphProto) -> list[Sample]:
    """Return the samples in a .npz, a .npy or a folder of .npy files, by input name.

    .npz: an array for each input, under its name (under any, if there is one input; a label array
    beside it, 1-D integers, is not taken for it). A leading axis more than the input has, or a
    leading axis where the input has 1, counts samples. A folder: a sample of the only input in
    each .npy, in the order of their names.
    """
    inputs = {i.name: i for i in free_inputs(graph)}
    if path.is_dir():
        files = sorted(path.glob("*.npy"))
        if not files or len(inputs) != 1:
            raise UsageError(f"{path}: .npy files for a model with one input are needed")
        [(name, info)] = inputs.items()
        return [{name: x} for file in files for x in _split(read_array(file), info, file)]
    return samples_of(read_arrays(path), inputs, path)


def samples_of(
    contents: Mapping[str, np.ndarray] | np.ndarray,
    inputs: Mapping[str, onnx.ValueInfoProto],
    path: Path | str,
) -> list[Sample]:
    """Return the samples in an array, or in arrays by input name.

    Args:
        contents: the arrays, of which a leading axis counts samples: see read_samples.
        inputs: the model's inputs by name.
        path: where they come from, for messages.

    Raises:
        UsageError: if they do not fit the inputs.
    """
    arrays = (
        _by_input(contents, inputs, path)
        if isinstance(contents, Mapping)
        else {_only(inputs): contents}
    )
    columns = {name: _split(array, inputs[name], path) for name, array in arrays.items()}
    counts = {len(column) for column in columns.values()}
    if len(counts) != 1:
        raise UsageError(f"{path}: its arrays hold different numbers of samples")
    return [{name: column[i] for name, column in columns.items()} for i in range(*counts)]


def read_labels(text: str, count: int) -> np.ndarray:
    """Return the class of each sample in a .npy, or in FILE.npz:KEY; raise UsageError."""
    name, _, key = text.partition(".npz:")
    labels = read_arrays(Path(name + ".npz" if key else name))
    if isinstance(labels, dict):
        if key not in labels:
            raise UsageError(f"{text}: say which of {', '.join(labels)}, as FILE.npz:KEY")
        labels = labels[key]
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise UsageError(f"{text}: {count} integers are needed, one a sample")
    return labels


def _check_finite(samples):
    for i, sample in enumerate(samples):
        for name, x in sample.items():
            if x.dtype.kind == "f" and not np.isfinite(x).all():
                raise UsageError(f"--calibration: sample {i} has NaN or infinity for input {name}")


def notes(samples: Sequence[Sample]) -> list[str]:
    """Return a note on samples that say nothing about other inputs."""
    if any(not np.array_equal(x, samples[0][name]) for s in samples for name, x in s.items()):
        return []
    if all(x.size and (x == x.flat[0]).all() for x in samples[0].values()):
        what = "holds one value only"
    elif len(samples) > 1:
        what = f"holds the same sample {len(samples)} times"
    else:
        return []
    return [f"--calibration {what}: ranges and accuracy found with it mean nothing"]


def _only(inputs):
    if len(inputs) != 1:
        raise UsageError("a .npz with an array for each input is needed: " + ", ".join(inputs))
    return next(iter(inputs))


def _by_input(contents, inputs, path):
    if set(inputs) <= set(contents):
        return {name: contents[name] for name in inputs}
    others = [array for array in contents.values() if array.ndim > 1]
    if len(inputs) == 1 and len(others) == 1:
        return {_only(inputs): others[0]}
    raise UsageError(f"{path} holds {', '.join(contents)}; the inputs are {', '.join(inputs)}")


def spec_of(info: onnx.ValueInfoProto) -> Spec:
    """Return name, dtype and shape of an input whose dimensions are known."""
    tensor = info.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return Spec(info.name, dtype, tuple(d.dim_value for d in tensor.shape.dim))


def _split(array, info, path):
    return split(array, spec_of(info), path)
