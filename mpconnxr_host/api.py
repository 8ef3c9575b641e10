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
import html
import io
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import mpconnxr
from mpconnxr.cpython import run_on_board
from tools.converter.check import Outcome, check
from tools.converter.convert import convert as run_passes
from tools.converter.converted import Converted
from tools.converter.load.namesfile import names_in
from tools.converter.options import Options
from tools.converter.report import fits, page, python_floats
from tools.converter.truth import Data, checked_truth
from tools.deploy.boards import Board, advice_on, load_boards, named
from tools.deploy.fit import Needs
from tools.errors import ConvertError, DeployError, RunError, UsageError
from tools.evaluate.evaluation import Evaluation

from .arguments import (
    Model,
    PathLike,
    array_of,
    arrays_of,
    as_file,
    check_output,
    float32_of,
    is_bin,
    is_path,
    name_of,
    options_of,
    pair_of,
    source_of,
    texts_of,
)
from .arrays import run as run_with_arrays
from .comparison import compare

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

_BOARD = "pico"  # whose heap `needs` tells, unless convert was told another


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
    requested = Options(**options_of(options, quantize, calibration))
    requested.golden, requested.expect = arrays_of(golden), arrays_of(expect)
    if labels is not None:
        requested.class_names = names_in(Path(labels)) if is_path(labels) else texts_of(labels)
    requested.vector = requested.check
    if board:
        _board(board)
    if out:
        check_output(Path(out), model)
    converted = run_passes(source_of(model), requested)
    result = ConvertedModel(
        converted.data, name_of(model), board, check(converted, requested), converted
    )
    if out:
        result.save(out)
    if test is not None:
        x, y = pair_of(test)
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
    data = Data("x", {name: [array_of(array)] for name, array in arrays.items()}, truth)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        is_file = isinstance(model, ConvertedModel) or (is_path(model) and is_bin(model))
        if not is_file:
            path = as_file(model, place.with_suffix(".onnx"))
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


def report(model: Any, path: PathLike | None = None, **options: Any) -> Page:
    """Return the page of `mpconnxr report` as HTML, and write it if a path is given.

    Args:
        model: what `convert` returned, or what it takes.
        path: an .html to write.
        **options: of `convert`.
    """
    if path:
        check_output(Path(path), model)
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
        path = as_file(model, place / f"{name_of(model)}.onnx")
        typical = samples
        if samples is not None and not is_path(samples):
            typical = place / "samples.npz"
            arrays = samples if isinstance(samples, Mapping) else {"x": samples}
            named_arrays: Any = {name: float32_of(array) for name, array in arrays.items()}
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
