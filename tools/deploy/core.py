"""The modules directly in mpconnxr/, and who needs each: the one list of them."""

from __future__ import annotations

from enum import Flag, auto


class Use(Flag):
    """What a board needs a module for."""

    KERNELS = auto()  # models that run with their kernels
    LOADED = auto()  # the same, and such a model imports it when it is loaded from a file system
    OPTIONAL = auto()  # some of these models, or programs of a user's that name it
    PROGRAM = auto()  # models that are programs: it is always in memory
    ASKED = auto()  # the same, when a call asks for it
    CORES = auto()  # programs for two cores
    LOOPS = auto()  # calls of loops without a model
    HOST = auto()  # no board: CPython alone imports it


MODULES = {
    "__init__": Use.LOADED | Use.PROGRAM | Use.LOOPS,
    "arena": Use.KERNELS | Use.ASKED,
    "arguments": Use.KERNELS | Use.ASKED,
    "audio": Use.OPTIONAL,
    "blocks": Use.HOST,
    "borders": Use.LOADED,
    "calls": Use.LOADED,
    "classes": Use.KERNELS | Use.ASKED,
    "clock": Use.KERNELS | Use.ASKED,
    "cores": Use.CORES,
    "cpython": Use.HOST,
    "dynamic": Use.OPTIONAL,
    "emission": Use.LOADED,
    "errors": Use.KERNELS | Use.ASKED | Use.LOOPS,
    "feed": Use.KERNELS | Use.ASKED,
    "flag": Use.KERNELS | Use.ASKED | Use.LOOPS,
    "forms": Use.KERNELS | Use.LOOPS,
    "golden": Use.KERNELS | Use.ASKED,
    "golden_objects": Use.OPTIONAL,
    "graph": Use.KERNELS,
    "held": Use.LOADED,
    "images": Use.OPTIONAL,
    "integers": Use.KERNELS | Use.ASKED,
    "items": Use.KERNELS | Use.ASKED,
    "kernel_load": Use.LOADED,
    "kernels": Use.KERNELS,
    "labels": Use.KERNELS | Use.ASKED,
    "later": Use.KERNELS | Use.LOOPS,
    "loading": Use.LOADED,
    "mfcc": Use.OPTIONAL,
    "model": Use.LOADED,
    "narrow": Use.KERNELS | Use.ASKED,
    "node": Use.KERNELS,
    "numbers": Use.KERNELS,
    "objects": Use.OPTIONAL,
    "opening": Use.KERNELS | Use.PROGRAM,
    "parameters": Use.KERNELS | Use.LOOPS,
    "profile": Use.KERNELS | Use.ASKED,
    "public": Use.KERNELS | Use.ASKED | Use.LOOPS,
    "queue": Use.KERNELS | Use.ASKED,
    "rare": Use.KERNELS | Use.ASKED,
    "reader": Use.KERNELS,
    "records": Use.KERNELS,
    "repeats": Use.LOADED,
    "replay": Use.PROGRAM,
    "seal": Use.KERNELS,
    "session": Use.KERNELS | Use.ASKED,
    "sharing": Use.KERNELS,
    "sizes": Use.OPTIONAL,
    "slices": Use.KERNELS | Use.ASKED,
    "slots": Use.KERNELS | Use.ASKED,
    "source": Use.KERNELS,
    "stream": Use.KERNELS,
    "structview": Use.KERNELS | Use.LOOPS,
    "tensor": Use.KERNELS | Use.ASKED | Use.LOOPS,
    "tensorfile": Use.KERNELS,
    "timing": Use.KERNELS | Use.ASKED,
    "trace": Use.OPTIONAL,
    "turn": Use.KERNELS | Use.PROGRAM | Use.LOOPS,
    "turns": Use.KERNELS | Use.ASKED,
    "unpack": Use.OPTIONAL,
    "values": Use.KERNELS | Use.ASKED,
    "widen": Use.OPTIONAL,
    "written": Use.KERNELS,
    "xip": Use.KERNELS | Use.ASKED,
}


def names(use: Use) -> tuple[str, ...]:
    """Return the modules that have this use, or one of these."""
    return tuple(name for name, uses in MODULES.items() if uses & use)
