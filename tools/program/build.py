"""Decide how a model is deployed, and build its files: a program if possible, else kernels.

tools/flash.py, tools/dist, tools/check and the reports call plan_deployment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.deploy.board_names import PROGRAM, renamed, shown
from tools.deploy.code import Builder, File, code_for, imported
from tools.deploy.core import Use, names, path_of
from tools.deploy.errors import DeployError
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import Package, built_package
from tools.machine import Machine, is_native
from tools.mpy.compile import compiled

from .bounds import proof
from .bundle import FOLDER, Bundle, bundle, cores, has_form, replay
from .call import CannotRecord, Recording
from .cores import record_pair
from .overwritten import first_fault
from .record import record
from .table import table, table_of

REPLAY = "replay"  # module that makes a program's calls, with its loops linked in
CORES = "cores"  # its counterpart for two cores
CORE = names(Use.PROGRAM)  # modules in memory while a program runs
_STACK = 4096  # bytes of a thread's stack on an RP2 board


@dataclass(frozen=True)
class DeploymentPlan:
    """How a model is deployed: as a program or with kernels, and the files of its code.

    Attributes:
        files: files of its code, with paths below a folder of the board.
        summary: the decision for people, with the reason if the model has kernels.
        program_for: machine that the program is for; None if the model has kernels.
        second_core: bytes of heap that a second core needs.
    """

    files: list[File]
    summary: str
    program_for: Machine | None
    second_core: int = 0

    @property
    def is_program(self) -> bool:
        """True if it needs no kernels on the board."""
        return self.program_for is not None


def plan_deployment(
    model: ModelFile,
    package: Package,
    machine: Machine | None,
    in_place: bool,
    why: str = "",
    n_cores: int = 1,
) -> DeploymentPlan:
    """Decide how a model is deployed, and compile its code.

    Args:
        model: the model.
        package: the device package.
        machine: code that the board can run; None to deploy sources.
        in_place: weights are read where they are stored, not copied or streamed.
        why: reason to deploy kernels; "" if a program is possible.
        n_cores: cores that run the program; 2 needs a program.

    Raises:
        DeployError: if code does not compile, or no program for two cores is possible.
    """
    if machine is None:
        why = why or "sources"
    if not why:
        try:
            return _program(model, machine, in_place, n_cores)
        except CannotRecord as e:
            why = str(e)
    if n_cores > 1:
        raise DeployError(f"{model.name} cannot run on {n_cores} cores: it needs kernels ({why})")
    return DeploymentPlan(
        code_for(model, package, machine),
        f"with its kernels, which take more memory than a program: {why}",
        None,
    )


def _program(model, machine, in_place, n_cores):
    """Return the plan to deploy a model as a program.

    Raises:
        CannotRecord: if the model cannot be a program.
    """
    made = build(model.data, machine, stream=not in_place, n_cores=n_cores)
    loaded = {made.module, *(f"mpconnxr/{name}.mpy" for name in (*CORE, CORES))}
    requested = {f.path: f for f in imported(model.requested, built_package(), machine)}
    loaded |= requested.keys()
    files = [
        File(path, data, (path.removesuffix(".mpy") + ".py",), path in loaded)
        for path, data in sorted(made.files.items())
    ]
    files += [file for path, file in requested.items() if path not in made.files]
    summary = f"as a program, made on this computer: {made.calls} calls a run"
    if n_cores == 1:
        return DeploymentPlan(files, summary, machine)
    more = made.arena_nbytes - (model.arena_nbytes if in_place else model.streamed_nbytes)
    summary += f", on {n_cores} cores; arena {made.arena_nbytes:,} bytes"
    return DeploymentPlan(files, summary, machine, more + _STACK)


@dataclass(frozen=True)
class Program:
    """The files of a model's program.

    Attributes:
        files: {path on the board: contents}, without the model's own file.
        module: path of the module with the calls.
        calls: number of calls of a run.
        code_nbytes: size of the table of calls.
        arena_nbytes: size of the arena.
    """

    files: dict[str, bytes]
    module: str
    calls: int
    code_nbytes: int
    arena_nbytes: int


def build(data: bytes, machine: Machine, stream: bool, n_cores: int = 1) -> Program:
    """Build a model's program for a board.

    Args:
        data: the model file.
        machine: code that the board can run.
        stream: weights are read into the arena while the program runs; else they are used in
            place.
        n_cores: 1 or 2.

    Raises:
        CannotRecord: if the model needs its kernels.
        DeployError: if a kernel or the file's memory plan is faulty.
    """
    made, calls = (_for_two if n_cores == 2 else _for_one)(data, machine, stream)
    package = built_package()
    builder = Builder(package, machine)
    shared = [name for name in names(Use.PROGRAM | Use.REQUESTED) if name != REPLAY]
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
    """Compile the modules that loops import only in rare cases, such as for an infinite value."""
    package = built_package()
    builder = Builder(package, machine)
    paths = package.with_dependencies(made.later, builder.pick)
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
    """Raise DeployError if a step overwrites its input too early, or a call leaves its buffers."""
    for step in recording.steps:
        fault = first_fault(step.calls)
        if fault:
            raise DeployError(
                f"step {step.number} {step.kernel}: {fault}; the file's memory plan is wrong: "
                "report it with the model, and convert the model again with another version"
            )
    for stray in proof(recording).strays:
        raise DeployError(f"{stray}; a kernel accepts a node that it should refuse: report it")
