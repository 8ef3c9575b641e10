"""The files that make a model a program on a board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.deploy.board_names import PROGRAM, renamed, shown
from tools.deploy.code import Builder
from tools.deploy.core import Use, names, path_of
from tools.deploy.errors import DeployError
from tools.deploy.modules import built_package
from tools.machine import Machine, is_native
from tools.mpy.compile import compiled

from .bounds import proof
from .bundle import FOLDER, Bundle, bundle, cores, has_form, replay
from .call import CannotRecord, Recording
from .cores import record_pair
from .overwritten import first_fault
from .record import record
from .table import table, table_of

REPLAY = "replay"  # with the loops in it that make a program's calls
CORES = "cores"  # of a program for two cores
CORE = names(Use.PROGRAM)  # of the package: what is in memory while a program runs


@dataclass(frozen=True)
class Program:
    """files: by their paths on the board, without the model's own; module: path of the bundle."""

    files: dict[str, bytes]
    module: str
    calls: int
    code_nbytes: int
    arena_nbytes: int


def build(data: bytes, machine: Machine, stream: bool, n_cores: int = 1) -> Program:
    """A model file as a program for a board.

    stream: its weights are read while it runs, into the arena; else they are used in place.
    Raises CannotRecord, DeployError.
    """
    made, calls = (_for_two if n_cores == 2 else _for_one)(data, machine, stream)
    package = built_package()
    builder = Builder(package, machine)
    shared = [name for name in names(Use.PROGRAM | Use.ASKED) if name != REPLAY]
    files = {
        f"mpconnxr/{path_of(n, '.mpy')}": builder.build(package.folder / path_of(n))
        for n in shared
    }
    files[f"mpconnxr/{REPLAY}.mpy"] = _linked(REPLAY, replay(machine), machine)
    if n_cores == 2:
        files[f"mpconnxr/{CORES}.mpy"] = _linked(CORES, cores(machine), machine)
    module = f"mpconnxr/{FOLDER}/{made.name}.mpy"
    files[module] = _compiled(made)
    files[module.replace(".mpy", "_steps.mpy")] = compiled(made.steps, shown(PROGRAM))
    files = _later(made, machine) | files
    return Program(files, module, calls, made.code_nbytes, made.arena_nbytes)


def _compiled(made: Bundle) -> bytes:
    source = renamed(built_package(), PROGRAM, made.source)
    return compiled(source, shown(PROGRAM), made.arch)


def _linked(name: str, source: str, machine: Machine) -> bytes:
    source = renamed(built_package(), f"mpconnxr.{name}", source)
    return compiled(source, name, machine.arch if is_native(source) else "")


def _later(made: Bundle, machine: Machine) -> dict[str, bytes]:
    """What loops import when something rare happens, such as a value that is infinite."""
    package = built_package()
    builder = Builder(package, machine)
    paths = package.with_needs(made.later, builder.pick)
    return {str(Path(package.place(p)).with_suffix(".mpy")): builder.build(p) for p in paths}


def _for_two(data: bytes, machine: Machine, stream: bool) -> tuple[Bundle, int]:
    pair = record_pair(data, lambda *form: has_form(machine, *form), stream)
    if pair is None:
        raise CannotRecord("no step can be cut for two cores")
    for core in pair.cores:
        _refuse_faults(core)
    made = bundle(data, pair.cores[0], machine, [table_of(core) for core in pair.cores])
    return made, sum(len(step.calls) for core in pair.cores for step in core.steps)


def _for_one(data: bytes, machine: Machine, stream: bool) -> tuple[Bundle, int]:
    def runs(family: str, form: str) -> bool:
        return has_form(machine, family, form)

    recording = record(data, runs, stream)
    _refuse_faults(recording)
    made = table(data, runs, stream)
    return bundle(data, recording, machine, [made]), sum(made.calls)


def _refuse_faults(recording: Recording) -> None:
    """Raise DeployError if a step reads an input where it has written, or a call would leave its
    buffers.
    """
    for step in recording.steps:
        fault = first_fault(step.calls)
        if fault:
            raise DeployError(
                f"step {step.number} {step.kernel}: {fault}; the file's memory plan is wrong: "
                "report it with the model, and convert the model again with another version"
            )
    for stray in proof(recording).strays:
        raise DeployError(f"{stray}; a kernel takes what it should refuse: report it")
