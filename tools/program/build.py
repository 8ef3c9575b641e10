"""The files that make a model a program on a board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.deploy.compile import compiled
from tools.deploy.machine import Machine

from .bundle import FOLDER, Bundle, bundle, has_form
from .record import record

_PACKAGE = Path(__file__).parents[2] / "mpconnxr"
# Of the package: what is in memory while a program runs, and what is when it is asked for.
CORE = ("__init__", "errors", f"{FOLDER}/__init__", f"{FOLDER}/replay")
ON_DEMAND = (
    "arena",
    "classes",
    "feed",
    "integers",
    "narrow",
    "queue",
    "rare",
    "session",
    "shortage",
    "slices",
    "slots",
    "tensor",
    "timing",
    "xip",
)


@dataclass(frozen=True)
class Program:
    """files: by their paths on the board, without the model's own; module: path of the bundle."""

    files: dict[str, bytes]
    module: str
    calls: int
    code_nbytes: int


def build(data: bytes, machine: Machine, stream: bool) -> Program:
    """A model file as a program for a board.

    stream: its weights are read while it runs, into the arena; else they are used in place.
    Raises CannotRecord, DeployError.
    """
    made, calls = _smallest(data, machine, stream)
    files = {f"mpconnxr/{name}.mpy": _core(name) for name in (*CORE, *ON_DEMAND)}
    module = f"mpconnxr/{FOLDER}/{made.name}.mpy"
    files[module] = compiled(made.source, made.name, made.arch)
    return Program(files, module, calls, made.code_nbytes)


def _core(name: str) -> bytes:
    return compiled((_PACKAGE / f"{name}.py").read_text(), f"{name}.py")


def _smallest(data: bytes, machine: Machine, stream: bool) -> tuple[Bundle, int]:
    """With each call of its own, or with loops that make several: whichever takes less."""
    found = []
    for flat in (True, False):
        recording = record(data, lambda *form: has_form(machine, *form), stream, flat)
        made = bundle(data, recording, machine)
        nbytes = len(compiled(made.source, made.name, made.arch))
        calls = sum(len(step.calls) for step in recording.steps)
        found.append((nbytes, not flat, made, calls))
    _, _, made, calls = min(found, key=lambda f: f[:2])
    return made, calls
