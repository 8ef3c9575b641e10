"""The examples' models: each on the board as flash.py sends it, verified by its golden vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.converter.convert import Options, convert
from tools.deploy.errors import BoardError, DeployError
from tools.deploy.model_file import ModelFile, parse_model
from tools.program.ways import way_of

from .bench import Bench

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("digits", "gesture", "anomaly", "forest", "keywords", "shapes")


@dataclass(frozen=True)
class Checked:
    """A model on a board. max_error, largest, bound: as Verified has them; warm_ms: of a usual
    run, first_ms: of the first one, None without a clock; heap_bytes: that loading and running
    took; error: why it did not run, "" where it did.
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


def models(names: tuple[str, ...] = NAMES) -> Iterator[ModelFile]:
    """Converted as the command does by default."""
    for name in names:
        done = convert(EXAMPLES / name / f"{name}.onnx", Options())
        yield parse_model(name, done.data)


def check(bench: Bench, model: ModelFile) -> Checked:
    """Copies a model to the board, verifies it there, and removes it again."""
    way = way_of(model, bench.package, bench.machine, False)
    code_bytes = sum(len(f.data) for f in way.files)
    found = {"name": model.name, "is_program": way.is_program, "code_bytes": code_bytes}
    found["file_bytes"] = len(model.data)
    files = {f.path: f.data for f in way.files} | {(file := f"{model.name}.bin"): model.data}
    try:
        with bench.cleared():
            bench.bring(files)
            seen = bench.verify(file)
    except BoardError as e:
        return Checked(**found, error=e.said)
    except DeployError as e:  # no room in its file system
        return Checked(**found, error=str(e))
    return Checked(
        **found,
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
