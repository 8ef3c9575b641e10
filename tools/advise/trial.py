"""Convert a model with some options and measure what it needs and how accurate it is.

This happens in a child process with limited memory and time, whose crash is a result, too.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools import arguments, limits
from tools.converter import load, own
from tools.converter.__main__ import add_options, options_from
from tools.converter.context import Context
from tools.converter.convert import convert
from tools.converter.converted import Converted
from tools.converter.errors import UnsupportedModel
from tools.converter.ir import walk
from tools.converter.options import Options
from tools.converter.shape_fixing import shape_fixing_inputs
from tools.deploy.boards import Board
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, TooSmall, UsageError, text_of

from . import blame
from .accuracy import Accuracy, measured, most_samples
from .placement import Placement, placements
from .samples import CALIBRATION, Samples, write_samples

_ASKS_BOUND = re.compile(r"\(--bound (\S+)=N ")
_FLOATS = (1, 10, 11, 16)  # ONNX's numbers of dtypes


@dataclass(frozen=True)
class Task:
    """Model, board and options that all trials have in common.

    Attributes:
        user_options: options of the converter that the user gave.
        samples: the user's file of samples; None without one.
        folder: folder for files between the processes.
        compares: compare results with onnxruntime's.
    """

    model: Path
    board: Board
    user_options: tuple[str, ...]
    samples: Path | None
    folder: Path
    compares: bool = True

    def arguments(self, options: tuple[str, ...]) -> list[str]:
        """Return arguments for the converter, with a real file in the place of CALIBRATION."""
        calibration = str(self.samples or self.folder / CALIBRATION)
        return [calibration if o == CALIBRATION else o for o in (*self.user_options, *options)]


@dataclass
class Trial:
    """The result of one conversion.

    Attributes:
        options: options in addition to the user's.
        refused: error message; "" if there is a model.
        is_usage: the options do not suit this model.
        least: bytes that --arena or --window must allow at least; None unless it was too small.
        open_dims: inputs with a free dim, such as 'x [1, time]'.
        open_values: values for which the converter requests a --bound.
        deciding: inputs whose values determine a shape.
        placements: how it can be deployed, the default first.
        accuracy: accuracy of its results.
        arena: bytes that --arena limits.
        window: bytes that --window limits.
        in_the_way: description of what takes most of the heap.
        has_floats: the model has products of floats.
        has_samples: the user has samples of the inputs.
        notes: notes of the converter.
    """

    options: tuple[str, ...]
    refused: str = ""
    is_usage: bool = False
    least: int | None = None
    open_dims: list[str] = field(default_factory=list)
    open_values: list[str] = field(default_factory=list)
    deciding: list[str] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    accuracy: Accuracy = field(default_factory=Accuracy)
    arena: int = 0
    window: int = 0
    obstacle: str = ""
    has_floats: bool = False
    has_samples: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """True if options could provide missing sizes."""
        return bool(self.open_dims or self.open_values)

    @property
    def fits(self) -> bool:
        """True if any placement fits."""
        return any(p.fits for p in self.placements)


def parsed(texts: list[str]) -> Options:
    """Parse options of the converter.

    Raises:
        UsageError: if they are wrong.
    """
    parser = arguments.Parser("advise ... --")
    add_options(parser)
    return options_from(parser.parse_args(texts))


def tried(task: Task, options: tuple[str, ...], seconds: float) -> Trial:
    """Run a trial within a time limit in seconds."""
    if not hasattr(os, "fork"):
        return _trial(task, options, seconds)
    path = task.folder / "trial.pickle"
    path.unlink(missing_ok=True)

    def child():
        limits.apply(argparse.Namespace(timeout=seconds, memory=None))
        path.write_bytes(pickle.dumps(_trial(task, options, seconds)))
        return 0

    end = limits.watch(child, "advise")
    if path.exists():
        return pickle.loads(path.read_bytes())  # written by our own child
    report = end.report.replace("--timeout SECONDS", "--seconds N").partition(" (--memory")[0]
    return Trial(options, refused=report or "the conversion ended without a message")


def _trial(task, options, seconds):
    start = time.monotonic()
    try:
        converted = convert(task.model, parsed(task.arguments(options)))
        possible = placements(converted, task.board)
    except UnsupportedModel as e:
        free = [f.name for f in e.findings if f.problem.reason == "a free dimension"]
        values = sorted({name for f in e.findings for name in _ASKS_BOUND.findall(str(f))})
        result = Trial(options, refused=text_of(e), open_dims=free, open_values=values)
        result.deciding = _deciding(task, parsed(task.arguments(options)))
        return result
    except (ConvertError, DeployError, OSError) as e:
        usage, least = isinstance(e, UsageError), e.least if isinstance(e, TooSmall) else None
        return Trial(options, refused=text_of(e), is_usage=usage, least=least)
    result = _of(converted, options, possible)
    if not task.compares:
        return result
    try:
        samples = write_samples(task.folder, task.samples, converted, most_samples(converted))
    except UsageError as e:
        return Trial(options, refused=text_of(e), is_usage=True)
    if samples:
        result.has_samples = True
        left = seconds - (time.monotonic() - start)
        result.accuracy = _accuracy(task, converted, samples, left)
    return result


def _deciding(task, options: Options) -> list[str]:
    """Return inputs that --bind would make constants, and that so determine shapes."""
    operators = own.operators(options.ops, options.allow_domains)
    model = load.load(task.model, operators)
    names = shape_fixing_inputs(model, context=Context(operators))
    return [name for name in names if name not in options.bind]


def _of(converted: Converted, options, possible: list[Placement]) -> Trial:
    steps = list(walk(converted.graph.steps))
    inputs = [t for step in steps if step.macs for t in step.inputs[:1]]
    return Trial(
        options,
        placements=possible,
        arena=converted.plan.arena_bytes,
        window=converted.graph.weights.window_nbytes,
        obstacle=blame.largest(converted, possible[0].needs),
        has_floats=any(t.dtype in _FLOATS for t in inputs),
        notes=converted.notes,
    )


def _accuracy(task, converted: Converted, samples: Samples, seconds: float) -> Accuracy:
    path = task.folder / "model.bin"
    path.write_bytes(converted.data)
    return measured(path, task.model, converted, samples, seconds)
