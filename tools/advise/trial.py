"""One conversion with some options: what it needs on a board, and how far off its results are.

It happens in a child process, whose memory and time are limited and whose crash is a result, too.
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
    """What does not change from trial to trial. given: options of the converter that the user
    gave; samples: the user's file, if any; folder: for files between processes; compares: whether
    results are compared with those of onnxruntime.
    """

    model: Path
    board: Board
    given: tuple[str, ...]
    samples: Path | None
    folder: Path
    compares: bool = True

    def arguments(self, options: tuple[str, ...]) -> list[str]:
        """Of the converter, with a file of samples where the command line names none."""
        calibration = str(self.samples or self.folder / CALIBRATION)
        return [calibration if o == CALIBRATION else o for o in (*self.given, *options)]


@dataclass
class Trial:
    """options: those tried, beside the given ones; refused: why there is no model; is_usage: the
    options do not go with this model; least: of an --arena or --window that was too small;
    open_dims: inputs with a dim that is free, as 'x [1, time]'; open_values: names of values that
    the converter asks a --bound for; deciding: inputs whose values decide a shape.

    arena, window: bytes that --arena and --window limit; in_the_way: the largest of the heap;
    has_floats: there are products of floats; has_samples: inputs can be made or are given.
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
    in_the_way: str = ""
    has_floats: bool = False
    has_samples: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """True where sizes are missing that options can give."""
        return bool(self.open_dims or self.open_values)

    @property
    def fits(self) -> bool:
        """Whether any placement does."""
        return any(p.fits for p in self.placements)


def parsed(given: list[str]) -> Options:
    """Options of the converter as its command line has them. Raises UsageError."""
    parser = arguments.Parser("advise ... --")
    add_options(parser)
    return options_from(parser.parse_args(given))


def tried(task: Task, options: tuple[str, ...], seconds: float) -> Trial:
    """A trial that takes so long at most."""
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
        return pickle.loads(path.read_bytes())  # our own child wrote it
    report = end.report.replace("--timeout SECONDS", "--seconds N").partition(" (--memory")[0]
    return Trial(options, refused=report or "the conversion ended without a message")


def _trial(task, options, seconds):
    start = time.monotonic()
    try:
        converted = convert(task.model, parsed(task.arguments(options)))
        found = placements(converted, task.board)
    except UnsupportedModel as e:
        free = [f.name for f in e.findings if f.problem.reason == "a free dimension"]
        values = sorted({name for f in e.findings for name in _ASKS_BOUND.findall(str(f))})
        result = Trial(options, refused=text_of(e), open_dims=free, open_values=values)
        result.deciding = _deciding(task, parsed(task.arguments(options)))
        return result
    except (ConvertError, DeployError, OSError) as e:
        usage, least = isinstance(e, UsageError), e.least if isinstance(e, TooSmall) else None
        return Trial(options, refused=text_of(e), is_usage=usage, least=least)
    result = _of(converted, task, options, found)
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
    """Inputs that --bind would make constants, and so fix shapes."""
    operators = own.operators(options.ops, options.allow_domains)
    model = load.load(task.model, operators)
    found = shape_fixing_inputs(model, context=Context(operators))
    return [name for name in found if name not in options.bind]


def _of(converted: Converted, task: Task, options, found: list[Placement]) -> Trial:
    steps = list(walk(converted.graph.steps))
    inputs = [t for step in steps if step.macs for t in step.inputs[:1]]
    return Trial(
        options,
        placements=found,
        arena=converted.plan.arena_bytes,
        window=converted.graph.weights.window_nbytes,
        in_the_way=blame.largest(converted, found[0].needs),
        has_floats=any(t.dtype in _FLOATS for t in inputs),
        notes=converted.notes,
    )


def _accuracy(task, converted: Converted, samples: Samples, seconds: float) -> Accuracy:
    path = task.folder / "model.bin"
    path.write_bytes(converted.data)
    return measured(path, task.model, converted, samples, seconds)
