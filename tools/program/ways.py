"""How a model lies on a board: as a program wherever that can be, else with its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from tools.deploy.code import File, code_for
from tools.deploy.errors import DeployError
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import Package
from tools.machine import Machine

from .build import CORE, CORES, build
from .call import CannotRecord

_STACK = 4096  # of a thread on an RP2 board


@dataclass(frozen=True)
class Way:
    """files: below a folder of the board; said: which way it is, and why if it has kernels;
    program_for: the machine that it is a program for, None if it has kernels; second_core: bytes
    of the heap for one.
    """

    files: list[File]
    said: str
    program_for: Machine | None
    second_core: int = 0

    @property
    def is_program(self) -> bool:
        """Whether it needs no kernels on the board."""
        return self.program_for is not None


def way_of(
    model: ModelFile,
    package: Package,
    machine: Machine | None,
    in_place: bool,
    why: str = "",
    n_cores: int = 1,
) -> Way:
    """What a model needs on a board. Raises DeployError.

    machine: None for sources; in_place: its weights are used where they lie; why: it is to have
    kernels, "" if it may be a program; n_cores: that the program is for, 2 only if it can be one.
    """
    if machine is None:
        why = why or "sources"
    if not why:
        try:
            return _program(model, machine, in_place, n_cores)
        except CannotRecord as e:
            why = str(e)
    if n_cores > 1:
        raise DeployError(f"{model.name}: not for {n_cores} cores: with its kernels ({why})")
    return Way(code_for(model, package, machine), f"with its kernels: {why}", None)


def _program(model, machine, in_place, n_cores):
    made = build(model.data, machine, stream=not in_place, n_cores=n_cores)
    loaded = {made.module, *(f"mpconnxr/{name}.mpy" for name in (*CORE, CORES))}
    files = [
        File(path, data, (path.removesuffix(".mpy") + ".py",), path in loaded)
        for path, data in sorted(made.files.items())
    ]
    said = f"as a program: {made.calls} calls of loops"
    if n_cores == 1:
        return Way(files, said, machine)
    more = made.arena_nbytes - (model.arena_nbytes if in_place else model.streamed_nbytes)
    said += f", on {n_cores} cores; arena {made.arena_nbytes:,} bytes"
    return Way(files, said, machine, more + _STACK)
