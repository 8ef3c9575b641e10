"""Measure how far the outputs of two models are apart on random inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)


def random_sample(
    inputs: Sequence[onnx.ValueInfoProto], seed: int
) -> dict[str, np.ndarray] | None:
    """Return normal floats and small integers by input name; None for strings, unknown shapes."""
    rng, sample = np.random.default_rng(seed), {}
    for info in inputs:
        t = info.type.tensor_type
        if t.elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
            return None
        if not all(d.HasField("dim_value") for d in t.shape.dim):
            return None
        shape = [d.dim_value for d in t.shape.dim]
        x = rng.standard_normal(shape) if t.elem_type in _FLOATS else rng.integers(0, 2, shape)
        sample[info.name] = np.asarray(x).astype(helper.tensor_dtype_to_np_dtype(t.elem_type))
    return sample


def difference(expected: object, got: object) -> float:
    """Return the largest difference of two arrays, relative to the largest expected value.

    It is 0.0 for equal arrays, NaN included, and for values that are not numbers; infinite if only
    one is not finite, or if the shapes differ.
    """
    if not isinstance(expected, np.ndarray) or expected.dtype.kind not in "fiub":
        return 0.0
    if expected.shape != got.shape:
        return np.inf
    a, b = expected.astype(np.float64), got.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all()):
        return np.inf
    largest = np.abs(a[np.isfinite(a)]).max()
    return float(np.abs(a[~same] - b[~same]).max() / largest) if largest else np.inf


def step_of(*arrays: np.ndarray) -> float:
    """Return the smallest distance between different whole numbers in arrays."""
    values = np.unique(np.concatenate([np.asarray(a, np.float64).reshape(-1) for a in arrays]))
    return float(np.diff(values).min(initial=np.inf))
