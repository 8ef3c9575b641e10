"""Convert, run, measure and deploy models from Python: what `import mpconnxr` adds on a computer.

>>> import mpconnxr
>>> digits = mpconnxr.convert("examples/digits/digits.onnx")
>>> digits.inputs
[Spec(name='image', dtype='float32', shape=(1, 1, 8, 8))]
>>> digits.arena_nbytes <= 2080
True

The package finds these names at their first use (see mpconnxr/cpython.py), so that a program that
only runs models imports nothing of the converter. `mpconnxr.load` is the function of boards.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import html
import io
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import onnx

import mpconnxr
from mpconnxr.build.reader import MAGIC
from mpconnxr.cpython import run_on_board
from tools.converter.check import Outcome, check
from tools.converter.convert import convert as run_passes
from tools.converter.converted import Converted
from tools.converter.file.interface import Image, image_from
from tools.converter.load.namesfile import names_in
from tools.converter.options import Options
from tools.converter.protos import free_inputs
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session
from tools.converter.report import fits, page, python_floats
from tools.converter.truth import Data, checked_truth, split
from tools.converter.truth import Spec as InputSpec
from tools.deploy.boards import Board, advice_on, load_boards, named
from tools.deploy.fit import Needs
from tools.errors import ConvertError, DeployError, RunError, UsageError
from tools.evaluate.evaluation import Evaluation
from tools.limits.options import nbytes
from tools.limits.overwrite import overwritten
from tools.run.models import spec_of

from .arrays import run as run_with_arrays

__all__ = [
    "ConvertError",
    "ConvertedModel",
    "DeployError",
    "RunError",
    "UsageError",
    "advise",
    "boards",
    "compare",
    "convert",
    "evaluate",
    "flash",
    "quantize",
    "report",
    "targets",
]

PathLike = str | os.PathLike[str]
Model = PathLike | bytes | onnx.ModelProto | Any  # Any: an onnx_ir.Model
_BOARD = "pico"  # whose heap `needs` tells, unless convert was told another
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


@dataclass(frozen=True)
class Spec:
    """An input or output of a model.

    Attributes:
        name: its name in the .onnx.
        dtype: ONNX's name of the dtype, such as "float32".
        shape: dimensions; one that a run decides is its name.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Page(str):
    """A page of HTML, which a notebook shows in a frame of its own."""

    def __repr__(self) -> str:
        return f"<Page of {len(self):,} characters>"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 40em; border: 1px solid #ccc"
        return f'<iframe srcdoc="{html.escape(self)}" style="{style}"></iframe>'


@dataclass(repr=False)
class ConvertedModel:
    """A model.bin, and what the conversion found out.

    Attributes:
        model_file: the bytes of model.bin.
        name: the file's name without its suffix.
        board: the board that it is meant for; "" if none was named.
        check: the result of the run on this computer that compared the file with the model.
        evaluation: what the file answers to the samples of `test`; None without these.
        of_float: what the float model answers to them, if the file is quantized.
    """

    model_file: bytes = field(repr=False)
    name: str
    board: str
    check: Outcome
    _converted: Converted = field(repr=False)
    evaluation: Evaluation | None = None
    of_float: Evaluation | None = None

    def __len__(self) -> int:
        """Return the bytes of the file."""
        return len(self.model_file)

    def __repr__(self) -> str:
        return (
            f"<ConvertedModel {self.name}: {len(self):,} bytes, {self.steps} steps, "
            f"arena {self.arena_nbytes:,} bytes; {self.check}>"
        )

    @property
    def inputs(self) -> list[Spec]:
        """The inputs, in the graph's order."""
        return _specs(self._about["inputs"])

    @property
    def outputs(self) -> list[Spec]:
        """The outputs, in the graph's order."""
        return _specs(self._about["outputs"])

    @property
    def steps(self) -> int:
        """The number of kernels that a run calls."""
        return int(self._about["steps"])

    @property
    def macs(self) -> int:
        """The nominal multiply-accumulates of a run."""
        return int(self._about["macs"])

    @property
    def arena_nbytes(self) -> int:
        """The bytes of all values that are in memory at a time, with weights read in place."""
        return int(self._about["arena_bytes"])

    @property
    def weights_nbytes(self) -> int:
        """The bytes of the file that are weights."""
        return int(self._about["weight_bytes"])

    @property
    def notes(self) -> list[str]:
        """Choices that the converter made."""
        return list(self._converted.notes)

    @property
    def warnings(self) -> list[str]:
        """What makes the model slow or wrong; empty in the best case."""
        expected = self._converted.expected
        texts = [python_floats.of(self._converted).warning, expected.warning if expected else ""]
        return [text for text in texts if text]

    @property
    def accuracy(self) -> float | None:
        """The share of samples of `test` that the file answers right; None for values."""
        return self.evaluation.accuracy if self.evaluation else None

    @property
    def layers(self) -> Sequence[Any]:
        """What quantization costs by layer (node, operator and dB), the noisiest first."""
        return self._converted.quantized.layers if self._converted.quantized else ()

    @cached_property
    def needs(self) -> Needs:
        """The estimated bytes of heap on `board`, or on a Pico, by part and in `total`."""
        return self.fit(self.board or _BOARD).needs

    def fit(self, board: str = "") -> fits.Fit:
        """Return an estimate for a board: `verdict`, `needs.total` [bytes], `seconds` of a run.

        Args:
            board: a name of `mpconnxr.boards()`; by default the one of the conversion, or a Pico.

        Raises:
            UsageError: if there is no such board.
        """
        return fits.fit_of(self._converted, _board(board or self.board or _BOARD))

    @cached_property
    def _about(self) -> dict[str, Any]:
        return self._converted.report()

    @cached_property
    def _loaded(self) -> Any:
        return mpconnxr.load(self.model_file)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes; empty if the file has none."""
        return tuple(self._loaded.labels or ())

    def predict(self, x: Any, **options: Any) -> Any:
        """Return the label of the class that the file answers: see Model.predict of boards."""
        return self._loaded.predict(x, **options)

    def run(self, x: Any) -> list[np.ndarray]:
        """Run the file in this Python, in the loops that boards have, and return its outputs.

        Args:
            x: the value of the only input, a list of values, or a dict by input name.

        Raises:
            mpconnxr.InputError: if a value does not fit.
        """
        return run_with_arrays(run_on_board, self._loaded, x, None)

    def reset(self) -> None:
        """Set the state that runs keep to what it was at first."""
        self._loaded.reset()

    def save(self, path: PathLike | None = None) -> Path:
        """Write the file and return its path; by default NAME.bin in the current folder."""
        path = Path(path or f"{self.name}.bin")
        path.write_bytes(self.model_file)
        return path

    def report(self, path: PathLike | None = None) -> Page:
        """Return the page of `mpconnxr report` as HTML, and write it if a path is given."""
        text = Page(page(self._converted, self.name))
        if path:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def flash(self, port: str = "auto", **options: Any) -> dict[str, Any]:
        """Deploy the file to a board and verify it there: see `mpconnxr.flash`."""
        return flash(self, port, **options)

    def _repr_html_(self) -> str:
        """Return the report in a frame of its own, for notebooks."""
        return self.report()._repr_html_()


def convert(
    model: Model,
    out: PathLike | None = None,
    *,
    quantize: str | None = None,
    calibration: Any = None,
    test: tuple[Any, Any] | None = None,
    golden: Any = None,
    expect: Any = None,
    labels: Any = None,
    board: str = "",
    **options: Any,
) -> ConvertedModel:
    """Convert a model, run the file on this computer, and compare it with the model.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).random((32, 1, 1, 8, 8), np.float32)
    >>> small = mpconnxr.convert("examples/digits/digits.onnx", quantize="int8", calibration=x)
    >>> len(small) < len(mpconnxr.convert("examples/digits/digits.onnx"))
    True

    Args:
        model: an .onnx as a path, bytes, an onnx.ModelProto or an onnx_ir.Model.
        out: a file to write.
        quantize: "int8", "int16x8" or "dynamic": make integers of a float model.
        calibration: inputs that are typical, for quantization: an array or a dict of arrays by
            input name, whose first axis counts samples; or a .npz, a .npy or a folder.
        test: samples that were not trained with, as `calibration`, and the class or value of
            each: the result has the accuracy of the file, and of the float model.
        golden: inputs of the vector that `flash` runs on the board; random ones by default.
        expect: what the trained model computed of `golden`.
        labels: names of the classes in the order of the scores, or a file with one a line.
        board: a name of `mpconnxr.boards()`, for `needs` and `fit`.
        **options: attributes of tools.converter.options.Options (such as shapes, dims, arena,
            window, weights, float, state, images) and of quantization (method, per_channel,
            exclude, io).

    Raises:
        UsageError: if an argument is wrong or does not fit the model.
        ConvertError: if the model cannot be converted; the text names every reason.
    """
    requested = Options(**_options(options, quantize, calibration))
    requested.golden, requested.expect = _arrays(golden), _arrays(expect)
    if labels is not None:
        requested.class_names = names_in(Path(labels)) if _is_path(labels) else _texts(labels)
    requested.vector = requested.check
    if board:
        _board(board)
    converted = run_passes(_source(model), requested)
    result = ConvertedModel(
        converted.data, _name(model), board, check(converted, requested), converted
    )
    if out:
        _check_output(Path(out), model)
        result.save(out)
    if test is not None:
        x, y = _pair(test)
        known = requested.class_names or None
        result.of_float = evaluate(model, x, y, labels=known) if quantize else None
        threshold = result.of_float.threshold if result.of_float else None
        result.evaluation = evaluate(result, x, y, labels=known, threshold=threshold)
    return result


def quantize(model: Model, calibration: Any, mode: str = "int8", **options: Any) -> ConvertedModel:
    """Convert a float model into one of integers: `convert` with `quantize`."""
    return convert(model, quantize=mode, calibration=calibration, **options)


def evaluate(
    model: Any,
    x: Any,
    y: Any,
    *,
    labels: Sequence[str] | None = None,
    target: str | None = None,
    port: str | None = None,
    worst: int = 10,
    threshold: float | None = None,
) -> Evaluation:
    """Compare a model's answers with what is true: accuracy, confusion, the worst samples.

    >>> x = np.zeros((2, 1, 1, 8, 8), np.float32)
    >>> mpconnxr.evaluate(mpconnxr.convert("examples/digits/digits.onnx"), x, [3, 3]).accuracy
    1.0

    Args:
        model: what `convert` returned, a .bin, or an original, which runs in onnxruntime.
        x: samples: an array, or a dict of arrays by input name, whose first axis counts them.
        y: for each sample its class (an integer or a label), or its value or values (floats).
        labels: names of the classes; by default those in the file.
        target: MicroPython target that runs a file; by default `unix` if it is built, else this
            Python, which gives the same answers and takes long.
        port: serial port of a board that runs a file instead.
        worst: most samples in `Evaluation.worst`.
        threshold: the value above which a model with one output answers class 1; by default 0.5
            for probabilities, else 0.

    Raises:
        UsageError: if samples, truth and model do not belong together.
        RunError, DeployError: if the model does not run.
    """
    from tools.evaluate import predict
    from tools.evaluate.evaluation import evaluate as judged

    arrays = x if isinstance(x, Mapping) else {"": x}
    truth = checked_truth(np.asarray(y), "y")
    data = Data("x", {name: [_array(array)] for name, array in arrays.items()}, truth)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        is_file = isinstance(model, ConvertedModel) or (_is_path(model) and _is_bin(model))
        if not is_file:
            path = _as_file(model, place.with_suffix(".onnx"))
            outputs = predict.by_onnxruntime(path, data)
        else:
            path = place.with_suffix(".bin")
            path.write_bytes(
                model.model_file if isinstance(model, ConvertedModel) else Path(model).read_bytes()
            )
            file = predict.File(path, data)
            labels = labels or file.labels
            outputs = (
                file.on_board(port)[0]
                if port
                else file.on_target(target or predict.default_target())
            )
    return judged(lambda _: outputs, None, truth, labels, worst, threshold)


def _float32(values: Any) -> np.ndarray:
    """Return an array in which Python's floats have the size that models take."""
    array = _array(values)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _is_bin(path: PathLike) -> bool:
    with open(path, "rb") as f:
        return f.read(len(MAGIC)) == MAGIC


@dataclass(frozen=True)
class Difference:
    """How far an output is from the original's, over all samples.

    Attributes:
        name: of the output.
        largest: the largest absolute difference; 1 if text differs.
        relative: `largest`, divided by the largest magnitude of the original.
        snr_db: the signal-to-noise ratio [dB]; inf if there is no difference.
        agreement: share of samples in which the largest element is the same one, or the only
            element, if it is an integer or text.
    """

    name: str
    largest: float
    relative: float
    snr_db: float
    agreement: float


def compare(model: Model, converted: Any, samples: Any) -> list[Difference]:
    """Compare what a file computes with what onnxruntime computes of the original.

    >>> x = np.zeros((3, 1, 1, 8, 8), np.float32)
    >>> model = "examples/digits/digits.onnx"
    >>> [logits] = mpconnxr.compare(model, mpconnxr.convert(model), x)
    >>> logits.agreement, logits.largest < 1e-5
    (1.0, True)

    Args:
        model: the original: see `convert`.
        converted: what `convert` returned, or a .bin.
        samples: an array or a dict of arrays by input name, whose first axis counts samples.

    Raises:
        UsageError: if there are no samples.
    """
    proto = _proto(_source(model))
    session = open_session(proto)
    loaded = mpconnxr.load(converted)
    inputs, names = ([str(t.name) for t in tensors] for tensors in (loaded.inputs, loaded.outputs))
    specs = [InputSpec(s.name, s.dtype, s.shape) for s in map(spec_of, free_inputs(proto.graph))]
    if (set(inputs), set(names)) != ({spec.name for spec in specs}, set(session.outputs)):
        raise UsageError("compare: model and file have other inputs or outputs")
    pairs = []
    for x in _rows(specs, samples):
        fed = {name: x[name] for name in inputs}
        pairs.append((session.run(names, x), loaded.run(fed)))
    return [_difference(name, [(a[i], b[i]) for a, b in pairs]) for i, name in enumerate(names)]


def _rows(specs: Sequence[InputSpec], samples: Any) -> list[dict[str, np.ndarray]]:
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


def _typed(values: Any, spec: InputSpec) -> np.ndarray:
    array = _float32(values)
    is_free = array.dtype.kind == spec.dtype.kind == "f" or spec.dtype == object
    return array.astype(spec.dtype) if is_free else array


def _difference(name: str, pairs: list[Any]) -> Difference:
    expected, got = (np.stack([_values(p[k]) for p in pairs]) for k in (0, 1))
    same = 1.0
    if expected.shape[1] == 1 and expected.dtype.kind in "iuU":
        same = float((got == expected).mean())
    if expected.dtype.kind == "U":
        expected, got = np.ones(got.shape), got == expected
    expected, got = expected.astype(float), got.astype(float)
    if expected.shape[1] > 1:
        same = float((got.argmax(1) == expected.argmax(1)).mean())
    largest = float(np.abs(got - expected).max(initial=0))
    noise = float(((got - expected) ** 2).sum())
    signal = float((expected**2).sum())
    snr = float("inf") if noise == 0 else 10 * np.log10(max(signal, 1e-300) / noise)
    return Difference(
        name, largest, largest / (float(np.abs(expected).max(initial=0)) or 1.0), float(snr), same
    )


def _values(output: Any) -> np.ndarray:
    """Return the values of an output as a vector, those of maps in the order of their keys."""
    maps = output if isinstance(output, list) else [output]
    if maps and isinstance(maps[0], dict):
        return np.array([one[key] for one in maps for key in sorted(one)])
    values = np.asarray(output).ravel()
    return values.astype(str) if values.dtype.kind in "OUS" else values


def report(model: Any, path: PathLike | None = None, **options: Any) -> Page:
    """Return the page of `mpconnxr report` as HTML, and write it if a path is given.

    Args:
        model: what `convert` returned, or what it takes.
        path: an .html to write.
        **options: of `convert`.
    """
    if path:
        _check_output(Path(path), model)
    converted = model if isinstance(model, ConvertedModel) else convert(model, **options)
    return converted.report(path)


def advise(
    model: Model, board: str, *, samples: Any = None, seconds: float = 60, options: str = ""
) -> Any:
    """Say whether a model fits a board, and try which options help.

    Args:
        model: see `convert`.
        board: a name of `mpconnxr.boards()`.
        samples: typical inputs, as `calibration` of `convert`, to measure errors with.
        seconds: time limit.
        options: options of the command `mpconnxr convert` for each trial.

    Returns:
        An Advice: `fits`, `best` and `rows` with options and figures of each trial.

    Raises:
        UsageError: if there is no such board.
    """
    from tools.advise.search import advise as search
    from tools.advise.trial import Task

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        path = _as_file(model, place / f"{_name(model)}.onnx")
        typical = samples
        if samples is not None and not _is_path(samples):
            typical = place / "samples.npz"
            arrays = samples if isinstance(samples, Mapping) else {"x": samples}
            named_arrays: Any = {name: _float32(array) for name, array in arrays.items()}
            np.savez(typical, **named_arrays)
        user_options = tuple(shlex.split(options))
        task = Task(path, _board(board), user_options, typical and Path(typical), place)
        return search(task, seconds)


def flash(
    model: Any,
    port: str = "auto",
    *,
    target: str | None = None,
    quiet: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Deploy a model to a board and verify it there, as `mpconnxr flash` does.

    Args:
        model: what `convert` returned, or a .bin.
        port: a serial port; by default the only one with a USB device.
        target: an emulated board instead, such as "rp2040".
        quiet: print no progress.
        **options: options of the command by name, such as reserve=28672 or no_verify=True.

    Returns:
        The facts that the command prints with --json, with its exit status: 0 if deployed and
        verified.

    Raises:
        DeployError: if the model cannot be deployed.
    """
    from tools import flash as command
    from tools.deploy.reporter import Reporter

    arguments = ["--target", target] if target else ["--port", port]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        arguments += [option] if value is True else [option, str(value)] if value else []
    with tempfile.TemporaryDirectory() as folder:
        path = model
        if isinstance(model, ConvertedModel):
            path = model.save(Path(folder) / f"{model.name}.bin")
        args = _parsed(command.parser(), [str(path), *arguments])
        args.reporter = Reporter(False, quiet)
        args.is_temporary = isinstance(model, ConvertedModel)
        status = command.flash(args)
    facts: dict[str, Any] = args.reporter.facts
    return facts | {"status": status}


def _parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Return parsed arguments; raise UsageError where a command would end the process."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            return parser.parse_args(arguments)
    except SystemExit:
        text = printed.getvalue().partition("error: ")[2].partition("\n")[0]
        raise UsageError(f"flash: {text}") from None


def boards(name: str | None = None) -> list[Board] | Board:
    """Return the boards that are known, or the one of this name.

    >>> mpconnxr.boards("pico").title
    'Raspberry Pi Pico'

    Raises:
        UsageError: if there is no such board.
    """
    return load_boards() if name is None else _board(name)


def targets() -> dict[str, bool]:
    """Return by name of each MicroPython target whether it is installed on this computer."""
    from tools.micropython import get_target, target_names

    return {name: get_target(name).path().is_file() for name in target_names()}


def _specs(tensors: list[dict[str, Any]]) -> list[Spec]:
    return [Spec(t["name"], t["dtype"], tuple(t["shape"])) for t in tensors]


def _board(name: str) -> Board:
    board = named(name)
    if board is None:
        raise UsageError(f"no board {name}: {advice_on(name, 'mpconnxr.boards()')}")
    return board


def _options(requested: Mapping[str, Any], mode: str | None, calibration: Any) -> dict[str, Any]:
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
    return result | {"quantize": Settings(mode, _calibration(calibration), **quantizing)}


def _nbytes(name: str, text: str) -> int:
    try:
        return int(nbytes(text))
    except argparse.ArgumentTypeError as e:
        raise UsageError(f"{name} {e}") from None


def _array(values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as e:
        raise UsageError(f"samples: {e}") from None


def _pair(test: Any) -> tuple[Any, Any]:
    if isinstance(test, list | tuple) and len(test) == 2:
        return test[0], test[1]
    raise UsageError("test: a pair is needed, samples and the class or value of each")


def _texts(labels: Any) -> tuple[str, ...]:
    return tuple(str(label) for label in np.asarray(labels).reshape(-1))


def _calibration(values: Any) -> Any:
    if values is None:
        return ()
    if _is_path(values):
        return Path(values)
    if isinstance(values, Mapping):
        return {name: np.asarray(array) for name, array in values.items()}
    if isinstance(values, list | tuple) and values and isinstance(values[0], Mapping):
        return [{name: np.asarray(array) for name, array in s.items()} for s in values]
    return _array(values)


def _arrays(values: Any) -> list[np.ndarray] | None:
    """Return the arrays of a golden vector, one an input or output."""
    if values is None:
        return None
    return [np.asarray(v) for v in (values if isinstance(values, list | tuple) else [values])]


def _check_output(path: Path, model: Any) -> None:
    """Raise UsageError if a file would be written over the model that it is made from."""
    if _is_path(model) and (problem := overwritten([path], [Path(model)])):
        raise UsageError(problem)


def _is_path(value: Any) -> TypeGuard[PathLike]:
    return isinstance(value, str | os.PathLike)


def _source(model: Model) -> Path | onnx.ModelProto:
    if _is_path(model):
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

    if isinstance(model, ConvertedModel):
        raise UsageError("this model is converted already")
    if isinstance(model, onnx_ir.Model):
        proto = onnx_ir.to_proto(onnx_ir.external_data.load_to_model(model))
        return proto
    hint = ": skl2onnx.to_onnx exports it" if hasattr(model, "get_params") else ""
    kind = type(model).__name__
    raise UsageError(
        f"a model is a path, bytes, an onnx.ModelProto or an onnx_ir.Model, not {kind}{hint}"
    )


def _proto(source: Path | onnx.ModelProto) -> onnx.ModelProto:
    return onnx.load(source) if isinstance(source, Path) else source


def _as_file(model: Model, place: Path) -> Path:
    """Return the path of a model, written to a place if it is in memory."""
    source = _source(model)
    if isinstance(source, Path):
        return source
    onnx.save(source, place)
    return place


def _name(model: Model) -> str:
    return Path(model).stem if _is_path(model) else "model"
