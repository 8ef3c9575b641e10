"""Predict with a model.bin on a target or on a board, and with an .onnx in onnxruntime."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.converter.convert import Options
from tools.converter.truth import Data, Predictions, Spec, predictions_of
from tools.deploy.errors import BoardError
from tools.errors import RunError, UsageError
from tools.format import layout, reader
from tools.format.objects import is_object
from tools.harness import input_bytes
from tools.micropython import get_target
from tools.progress import progress
from tools.run.board import files_on_board
from tools.run.compare import Reference
from tools.run.execute import outputs_of, run_samples
from tools.run.models import BinModel, OnnxModel, checked, open_model
from tools.run.samples import Sample

_SCRIPT = Path(__file__).with_name("on_board.py")
_SECONDS = 600.0  # limit for one inference
_PIECE = 768  # bytes of an input in one command

Grid = tuple[float, int]


class File:
    """A model.bin with data for it.

    Args:
        path: the .bin.
        data: samples with what is true of them.

    Attributes:
        labels: names of the classes in the file.
        truth: what is true of each sample.

    Raises:
        ConvertError: if the file or the data cannot be used.
    """

    def __init__(self, path: Path, data: Data):
        self._path = path
        model = open_model(path, Options(), lambda text: None)
        if isinstance(model, OnnxModel):
            raise UsageError(f"{path} is an .onnx: convert it first, or name it with --float")
        self._model: BinModel = model
        stored = reader.read(path.read_bytes())
        chunk = stored.chunk(layout.CHUNK_LABELS)
        self.labels = reader.names_in(chunk.data) if chunk else []
        self.truth = data.truth
        self._inputs = [_grid(stored.tensors[i]) for i in stored.inputs]
        self._outputs = [_grid(stored.tensors[i]) for i in stored.outputs]
        self.samples = self._samples_of(data)

    def _samples_of(self, data):
        """Return the inputs of each sample; floats become integers where the model takes such."""
        specs = [Spec(s.name, s.dtype, s.shape) for s in self._model.inputs]
        kinds = {x.dtype for arrays in data.arrays.values() for x in arrays}
        if any(self._inputs) and kinds == {np.dtype(np.float32)}:
            specs = [
                spec._replace(dtype=np.dtype(np.float32)) if grid else spec
                for spec, grid in zip(specs, self._inputs, strict=True)
            ]
        rows = [list(sample.values()) for sample in data.samples(specs)]
        rows = [
            [_quantized(*one) for one in zip(row, self._inputs, self._model.inputs, strict=True)]
            for row in rows
        ]
        return [Sample(k, checked(row, self._model.inputs)) for k, row in enumerate(rows)]

    def on_target(self, target: str) -> Predictions:
        """Return what the model gives for all samples, computed on a MicroPython target."""
        ready = [self._model.ready(sample.arrays) for sample in self.samples]
        runs = run_samples("evaluate", target, _SECONDS, self.samples, ready)
        return self._predictions([outputs_of(run, r) for run, r in zip(runs, ready, strict=True)])

    def on_board(self, port: str) -> tuple[Predictions, float | None]:
        """Return the same, computed on a board, and the mean seconds of a run (None: no clock).

        Raises:
            RunError: if the board raises an exception.
            DeployError: if the board cannot be reached, or has too little space.
        """
        ready = self._model.ready(self.samples[0].arrays)
        specs = [*self._model.inputs, *ready.outputs]
        if any(is_object(s.number) for s in specs) or not all(map(_is_fixed, specs)):
            raise UsageError(
                "--port takes models whose inputs and outputs are arrays of fixed shapes"
            )
        outputs, times = [], []
        with files_on_board(port, {"model.bin": ready.data}) as (device, folder):
            try:
                load = f"load({folder + 'model.bin'!r})\n"
                device.execute(_SCRIPT.read_text() + load, _SECONDS)
                with progress("evaluate", port, len(self.samples), "sample") as bar:
                    for sample in self.samples:
                        _send(device, sample)
                        microseconds, *raw = _parsed(device.execute("run()", _SECONDS))
                        times.append(microseconds)
                        outputs.append(
                            [
                                np.frombuffer(data, s.dtype).reshape(s.shape)
                                for data, s in zip(raw, ready.outputs, strict=True)
                            ]
                        )
                        bar.update()
            except BoardError as e:
                raise RunError(f"{port}: {e}") from None
        return self._predictions(outputs), None if min(times) < 0 else sum(times) / len(
            times
        ) / 1e6

    def _predictions(self, outputs):
        rows = [
            [_dequantized(*one) for one in zip(row, self._outputs, strict=True)] for row in outputs
        ]
        return predictions_of(rows, self.truth)


def by_onnxruntime(path: Path, data: Data) -> Predictions:
    """Return what an .onnx gives for all samples.

    Raises:
        ConvertError: if the model or the data cannot be used.
        RunError: if onnxruntime refuses them.
    """
    inputs = OnnxModel(path, Options(), lambda text: None).inputs
    samples = data.samples([Spec(s.name, s.dtype, s.shape) for s in inputs])
    session = Reference(path, {}, {})
    outputs = [session.run(list(sample.values())) for sample in samples]
    return predictions_of(outputs, data.truth)


def default_target() -> str:
    """Return "unix" if it is built, else "cpython": building takes minutes."""
    return "unix" if get_target("unix").path().is_file() else "cpython"


def _is_fixed(spec):
    return all(isinstance(d, int) for d in spec.shape)


def _grid(tensor) -> Grid | None:
    return None if tensor.scale is None else (tensor.scale, tensor.zero_point)


def _quantized(x, grid, spec):
    if grid is None or x.dtype == spec.dtype:
        return x
    scale, zero = grid
    limits = np.iinfo(spec.dtype)
    return np.clip(np.round(x / scale) + zero, limits.min, limits.max).astype(spec.dtype)


def _dequantized(y, grid):
    if grid is None or not isinstance(y, np.ndarray):
        return y
    scale, zero = grid
    return (y.astype(np.float32) - zero) * np.float32(scale)


def _send(device, sample):
    for i, x in enumerate(sample.arrays):
        data = input_bytes(x)
        for at in range(0, len(data), _PIECE):
            piece = base64.b64encode(data[at : at + _PIECE])
            device.execute(f"fill({i}, {at}, {piece!r})")


def _parsed(printed: str) -> Sequence:
    """Return the microseconds, and the bytes of each output."""
    try:
        first, *lines = printed.split()
        outputs = [bytearray()]
        for line in lines:
            if line == "-":
                outputs.append(bytearray())
            else:
                outputs[-1] += base64.b64decode(line, validate=True)
        return [int(first), *outputs[:-1]]
    except ValueError:
        raise RunError(f"the board prints something else than outputs: {printed[:80]!r}") from None
