"""Measure how far outputs are from onnxruntime's, with graph optimizations off."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from tools.converter.load import external
from tools.converter.load.arrayfile import read_array
from tools.converter.reference.compare import distances
from tools.converter.reference.ort_session import OrtError, open_session
from tools.converter.reference.tolerance import Tolerance
from tools.errors import ConvertError, RunError, UsageError
from tools.format.objects import is_map

from .models import Spec, checked, spec_of


class Reference:
    """Run an .onnx in onnxruntime.

    Args:
        path: the .onnx.
        states: {input: output that becomes its value in the next run}.
        held: first values of the states.
        inner: names of values to return besides the outputs.
        bind: inputs that are the same in each run.

    Attributes:
        values: arrays of the inner values of the last run, by name.

    Raises:
        RunError: if onnxruntime cannot run the model.
    """

    def __init__(
        self,
        path: Path,
        states: Mapping[str, str],
        held: Mapping[str, np.ndarray],
        inner: Collection[str] = (),
        bind: Mapping[str, np.ndarray] | None = None,
    ):
        self._path = path
        self._inner = list(inner)
        self._fed: dict[str, np.ndarray] = {}
        self.values: dict[str, np.ndarray] = {}
        try:
            self._model = _with_outputs(path, inner)
            self._session = open_session(self._model)
        except ImportError:
            raise RunError("--compare needs onnxruntime: pip install onnxruntime") from None
        except OrtError as e:
            raise RunError(f"{path}: onnxruntime: {' '.join(str(e).split())}") from None
        self._states = states
        self._held = dict(held) if states else {}
        self._bound = {n: x for n, x in (bind or {}).items() if n in self._session.inputs}

    def check(self, samples: Iterable[Sequence[np.ndarray | dict]]) -> None:
        """Check that samples fit the model's inputs; raise RunError if not."""
        inputs = {i.name: i for i in _proto(self._path).graph.input}
        try:
            specs = [spec_of(inputs[name]) for name in self._names()]
            for arrays in samples:
                checked(arrays, specs)
        except ConvertError as e:
            raise RunError(f"--compare: {self._path} has other inputs: {e}") from None

    def _names(self):
        """Return the names of the inputs that a sample has."""
        kept = {*self._states, *self._bound}
        return [name for name in self._session.inputs if name not in kept]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run a sample and return the outputs; states are kept for the next run."""
        self._fed = dict(zip(self._names(), arrays, strict=True)) | self._held | self._bound
        try:
            outputs = self._session.run(None, self._fed)
        except OrtError as e:
            raise RunError(f"{self._path}: onnxruntime: {' '.join(str(e).split())}") from None
        by_name = dict(zip(self._session.outputs, outputs, strict=True))
        self.values = {name: by_name.pop(name) for name in self._inner}
        if not self._states:
            return list(by_name.values())
        self._held = {name: by_name[output] for name, output in self._states.items()}
        return [y for name, y in by_name.items() if name not in self._states.values()]

    def bounds(self, values: Mapping[str, np.ndarray], relative: float) -> dict[str, float]:
        """Return the largest error that counts as right for values of the last run, by name.

        Args:
            values: arrays by name.
            relative: largest error of floats as a part of a value's largest magnitude.
        """
        tolerance = Tolerance(self._model, relative)
        bounds = tolerance.bounds(self._fed, list(values.items()))
        return {name: bound.most for name, bound in zip(values, bounds, strict=True)}


class ExpectedOutputs:
    """Expected outputs from the user, used like a Reference.

    Raises:
        UsageError: if they do not fit the model's outputs.
    """

    def __init__(self, paths: Sequence[Path], outputs: Sequence[Spec]):
        self.values: dict[str, np.ndarray] = {}
        if any(is_map(spec.number) for spec in outputs):
            raise UsageError("--expect: the model has outputs of maps, which are no arrays")
        arrays = [read_array(path) for path in paths]
        try:
            self._arrays = checked(arrays, outputs, "output")
        except UsageError as e:
            raise UsageError(f"--expect: {e}") from None

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the expected outputs."""
        return self._arrays


def inner_values(path: Path) -> dict[str, str]:
    """Return {value: operator} of all values that nodes of the main graph compute.

    Outputs are not among them.
    """
    graph = _proto(path).graph
    outputs = {o.name for o in graph.output}
    computed = {name: node.op_type for node in graph.node for name in node.output if name}
    return {name: op for name, op in computed.items() if name not in outputs}


def _proto(path):
    """Read the model without external data."""
    try:
        return external.read(path)
    except ConvertError as e:
        raise RunError(f"--compare: {e}") from None


def _with_outputs(path, names):
    """Read the model, and append values to its outputs."""
    model = _proto(path)
    external.load(model, path)
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    return model


def _values(maps):
    return np.array([list(m.values()) for m in maps], np.float64)


class Errors:
    """Errors of one output over all samples."""

    def __init__(self) -> None:
        self._n = 0
        self._max = self._sum = self._noise = self._signal = self._largest = 0.0
        self._agreeing = self._rows = 0

    def add(self, got: np.ndarray | list[dict], expected: np.ndarray | list[dict]) -> None:
        """Add one sample's output. Maps are compared by their values, strings by equality.

        Raises:
            RunError: if the shapes differ.
        """
        if isinstance(got, list):
            if [list(m) for m in got] != [list(m) for m in expected]:
                raise RunError("maps of other keys")
            got, expected = (_values(y) for y in (got, expected))
        elif got.dtype.kind == "O" and got.shape == expected.shape:
            got, expected = (got != expected).astype(np.float64), np.zeros(got.shape)
        if got.shape != expected.shape:
            raise RunError(f"shape {list(got.shape)} where {list(expected.shape)} is expected")
        a, b = got.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
        error = distances(a, b)
        finite = b[np.isfinite(b)]
        self._n += error.size
        self._max = max(self._max, error.max(initial=0))
        self._sum += error.sum()
        self._noise += (error**2).sum()
        self._signal += (finite**2).sum()
        self._largest = max(self._largest, np.abs(finite).max(initial=0))
        if got.ndim and got.shape[-1] > 1 and got.size:
            same = got.argmax(-1) == expected.argmax(-1)
            self._agreeing += int(np.count_nonzero(same))
            self._rows += same.size

    def figures(self) -> dict:
        """Return the figures of the output.

        Returns:
            max_abs and mean_abs; max_rel: max_abs as a part of the largest expected value; snr_db:
            signal to noise ratio, None without noise; argmax: part of the rows (along the last
            axis) whose largest element is at the same index, None without rows.
        """
        snr = None
        if self._noise:
            ratio = self._signal / self._noise
            snr = 10 * math.log10(ratio) if ratio else -math.inf
        return {
            "max_abs": float(self._max),
            "max_rel": float(self._max / self._largest) if self._largest else float(self._max),
            "mean_abs": float(self._sum / self._n) if self._n else 0.0,
            "snr_db": snr,
            "argmax": self._agreeing / self._rows if self._rows else None,
        }
