"""List the modules of mpconnxr/ except ops/ and loops/, and which boards need each.

A module is named as below the package: "tensor", "io.labels". A room's modules are needed alike
but for EXCEPTIONS, so a new module needs an entry only if it is one.
"""

from __future__ import annotations

from enum import Flag, auto
from functools import cache
from pathlib import Path

from tools.made import SOURCES


class Use(Flag):
    """The purpose for which a board needs a module."""

    KERNELS = auto()  # models that run with their kernels
    LOADED = auto()  # the same, and such a model imports it when it is loaded from a file system
    OPTIONAL = auto()  # some of these models, or programs of a user's that name it
    PROGRAM = auto()  # models that are programs: it is always in memory
    REQUESTED = auto()  # the same, when a call asks for it
    CORES = auto()  # programs for two cores
    LOOPS = auto()  # calls of loops without a model
    HOST = auto()  # no board: CPython alone imports it


ROOMS = {  # "": what lies directly in mpconnxr/
    "": Use.KERNELS | Use.REQUESTED,
    "build": Use.LOADED,
    "dynamic": Use.OPTIONAL,
    "inspect": Use.KERNELS | Use.REQUESTED,
    "io": Use.KERNELS | Use.REQUESTED,
    "signal": Use.OPTIONAL,
}
EXCEPTIONS = {
    "__init__": Use.LOADED | Use.PROGRAM | Use.LOOPS,
    "blocks": Use.HOST,
    "build.seal": Use.KERNELS,
    "build.unpack": Use.OPTIONAL,
    "build.widen": Use.OPTIONAL,
    "cores": Use.CORES,
    "cpython": Use.HOST,
    "errors": Use.KERNELS | Use.REQUESTED | Use.LOOPS,
    "flag": Use.KERNELS | Use.REQUESTED | Use.LOOPS,
    "forms": Use.KERNELS | Use.LOOPS,
    "inspect.golden_objects": Use.OPTIONAL,
    "inspect.kernels": Use.KERNELS,
    "inspect.trace": Use.OPTIONAL,
    "io.audio": Use.OPTIONAL,
    "io.images": Use.OPTIONAL,
    "io.mfcc": Use.OPTIONAL,
    "io.objects": Use.OPTIONAL,
    "io.tensorfile": Use.KERNELS,
    "later": Use.KERNELS | Use.LOOPS,
    "model": Use.LOADED,
    "opening": Use.KERNELS | Use.PROGRAM,
    "parameters": Use.KERNELS | Use.LOOPS,
    "public": Use.KERNELS | Use.REQUESTED | Use.LOOPS,
    "replay": Use.PROGRAM,
    "sharing": Use.KERNELS,
    "stream": Use.KERNELS,
    "structview": Use.KERNELS | Use.LOOPS,
    "tensor": Use.KERNELS | Use.REQUESTED | Use.LOOPS,
    "turn": Use.KERNELS | Use.PROGRAM | Use.LOOPS,
}


@cache
def modules(folder: Path = SOURCES) -> dict[str, Use]:
    """Return the uses of each module of the package in a folder, by the module's name."""
    paths = [path for room in ROOMS for path in (folder / room).glob("*.py")]
    names = sorted(".".join(path.relative_to(folder).with_suffix("").parts) for path in paths)
    return {name: EXCEPTIONS.get(name, ROOMS[name.rpartition(".")[0]]) for name in names}


def names(use: Use) -> tuple[str, ...]:
    """Return the modules that have this use, or one of these."""
    return tuple(name for name, uses in modules().items() if uses & use)


def path_of(name: str, suffix: str = ".py") -> str:
    """Return the path of a module below the package."""
    return name.replace(".", "/") + suffix
