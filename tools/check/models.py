"""Verify the examples' models on a board, deployed as flash.py does, by their golden vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.converter.convert import Options, convert
from tools.deploy.errors import BoardError, DeployError
from tools.deploy.model_file import ModelFile, parse_model
from tools.program.build import plan_deployment

from . import MODELS
from .bench import Bench

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Checked:
    """The result of one model on a board.

    Attributes:
        name: name of the model.
        is_program: the model was deployed as a program.
        code_bytes: size of the code's files.
        file_bytes: size of the model's file.
        ok: the outputs are right.
        max_error: see Verified, also for largest and bound.
        warm_ms: duration of a run; None without a clock.
        first_ms: duration of the first run; None without a clock.
        heap_bytes: heap that loading and running took.
        error: reason why it did not run, "" if it did.
    """

    name: str
    is_program: bool
    code_bytes: int
    file_bytes: int
    ok: bool = False
    max_error: float = 0.0
    largest: float = 0.0
    bound: float | None = None
    warm_ms: float | None = None
    first_ms: float | None = None
    heap_bytes: int = 0
    error: str = ""


def models(names: tuple[str, ...] = MODELS) -> Iterator[ModelFile]:
    """Yield the models, converted with default options."""
    for name in names:
        converted = convert(EXAMPLES / name / f"{name}.onnx", Options())
        yield parse_model(name, converted.data)


def check(bench: Bench, model: ModelFile) -> Checked:
    """Copy a model to the board, verify it there, and remove it again.

    Raises nothing: an error becomes part of the result.
    """
    plan = plan_deployment(model, bench.package, bench.machine, False)
    code_bytes = sum(len(f.data) for f in plan.files)
    result = {"name": model.name, "is_program": plan.is_program, "code_bytes": code_bytes}
    result["file_bytes"] = len(model.data)
    files = {f.path: f.data for f in plan.files} | {(file := f"{model.name}.bin"): model.data}
    try:
        with bench.cleared():
            bench.bring(files)
            seen = bench.verify(file)
    except BoardError as e:
        return Checked(**result, error=e.last_line)
    except DeployError as e:  # the file system is full
        return Checked(**result, error=str(e))
    return Checked(
        **result,
        ok=seen.ok,
        max_error=seen.max_error,
        largest=seen.largest,
        bound=seen.bound,
        warm_ms=_ms(seen.seconds),
        first_ms=_ms(seen.first_seconds),
        heap_bytes=seen.heap_bytes,
    )


def _ms(seconds):
    return None if seconds is None else round(seconds * 1000, 3)
