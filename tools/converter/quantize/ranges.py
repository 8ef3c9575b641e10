"""Ranges of activations over the calibration samples.

minmax, percentile (99.999 % of the values) and entropy (least Kullback-Leibler divergence) are
onnxruntime's calibrators; mse chooses the range in which rounding and clipping together cost the
least squared error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx

from .activations import each_run
from .data import Sample
from .runtime import runtimes

Ranges = dict[str, tuple[float, float]]

_SHRINKS = np.linspace(0.2, 1.0, 41)  # of the range, tried by mse
_VALUES = 100_000  # of a tensor that mse looks at, spread over the samples


def ranges(model: onnx.ModelProto, samples: Sequence[Sample], method: str) -> Ranges:
    """Return (lowest, highest) by name of each float tensor; for methods see the module."""
    return _by_mse(model, samples) if method == "mse" else _by_runtime(model, samples, method)


def _by_runtime(model, samples, method):
    from onnxruntime.quantization import calibrate

    kind = {
        "minmax": calibrate.CalibrationMethod.MinMax,
        "percentile": calibrate.CalibrationMethod.Percentile,
        "entropy": calibrate.CalibrationMethod.Entropy,
    }[method]
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        onnx.save(model, path)
        augmented = Path(folder, "augmented.onnx")
        with runtimes("calibrator", "another --method may do"):
            calibrator = calibrate.create_calibrator(path, None, augmented, calibrate_method=kind)
            calibrator.collect_data(_reader(samples))
            result = calibrator.compute_data()
    return {name: tuple(np.ravel(v).item() for v in d.range_value) for name, d in result.items()}


def _reader(samples: Sequence[Sample]):
    """Return the samples as onnxruntime's quantizer reads them."""
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter(samples)

        def get_next(self):
            return next(self.left, None)

    return Reader()


def _by_mse(model, samples):
    kept: dict[str, list[np.ndarray]] = {}
    most = max(_VALUES // len(samples), 1)
    for values in each_run(model, samples):
        for name, x in values.items():
            flat = x.reshape(-1)
            kept.setdefault(name, []).append(flat[:: -(-flat.size // most) or 1])
    return {name: _least_squares(np.concatenate(parts)) for name, parts in kept.items()}


def _least_squares(x: np.ndarray, levels: int = 255) -> tuple[float, float]:
    low, high = min(float(x.min(initial=0.0)), 0.0), max(float(x.max(initial=0.0)), 0.0)
    if low == high:
        return low, high
    candidates = [(low * shrink, high * shrink) for shrink in _SHRINKS]
    return min(candidates, key=lambda c: _error(x, *c, levels))


def _error(x, low, high, levels):
    scale = (high - low) / levels
    zero = np.round(-low / scale)
    rounded = (np.clip(np.round(x / scale) + zero, 0, levels) - zero) * scale
    return float(np.square(x - rounded).sum())


def as_tensors_data(limits: Mapping[str, tuple[float, float]]):
    """Return the ranges as onnxruntime's quantizer takes them."""
    from onnxruntime.quantization.calibrate import CalibrationMethod, TensorsData

    pairs = {name: (np.float32(low), np.float32(high)) for name, (low, high) in limits.items()}
    return TensorsData(CalibrationMethod.MinMax, pairs)
