"""How far two models are from each other on random inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)


def random_sample(
    inputs: Sequence[onnx.ValueInfoProto], seed: int
) -> dict[str, np.ndarray] | None:
    """Standard-normal floats and small integers by name; None for strings, or an unknown size."""
    rng, found = np.random.default_rng(seed), {}
    for info in inputs:
        t = info.type.tensor_type
        if t.elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
            return None
        if not all(d.HasField("dim_value") for d in t.shape.dim):
            return None
        shape = [d.dim_value for d in t.shape.dim]
        x = rng.standard_normal(shape) if t.elem_type in _FLOATS else rng.integers(0, 2, shape)
        found[info.name] = np.asarray(x).astype(helper.tensor_dtype_to_np_dtype(t.elem_type))
    return found


def difference(wanted: object, got: object) -> float:
    """The largest one of two arrays, by the largest value that is wanted.

    0.0 for equal ones, NaN among them, and for what are no numbers; infinity where one alone is
    not finite, or the shapes differ.
    """
    if not isinstance(wanted, np.ndarray) or wanted.dtype.kind not in "fiub":
        return 0.0
    if wanted.shape != got.shape:
        return np.inf
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all()):
        return np.inf
    largest = np.abs(a[np.isfinite(a)]).max()
    return float(np.abs(a[~same] - b[~same]).max() / largest) if largest else np.inf


def step_of(*arrays: np.ndarray) -> float:
    """The least distance of two values of these arrays, where they stand for integers."""
    values = np.unique(np.concatenate([np.asarray(a, np.float64).reshape(-1) for a in arrays]))
    return float(np.diff(values).min(initial=np.inf))
