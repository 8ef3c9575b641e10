"""MicroPython on this computer: fetch it, build it, and run scripts on it.

    from tools import package
    from tools.micropython import get_target
    done = get_target("unix").run("import mpconnxr", files={"mpconnxr": package.folder()})
    print(done.stdout, done.stderr, done.returncode)

Each target is an entry of a table `TARGETS` in unix.py, cpython.py, qemu.py, rp2040.py or
webassembly.py. docs/targets.md says what each one is good for. Nothing here knows about models.
"""

import argparse

from . import cpython, qemu, rp2040, unix, versions, webassembly
from .errors import TargetError, TargetTimeout
from .recipe import MODULES
from .target import Completed, Target

_ALL = (
    *unix.TARGETS,
    *(unix.GUARD_TARGETS if MODULES.is_dir() else ()),
    *cpython.TARGETS,
    *qemu.TARGETS,
    *rp2040.TARGETS,
    *webassembly.TARGETS,
)
_TARGETS = {target.name: target for target in _ALL}

# Quick, and different in word size, floats and emitters: tests of device code run on all of them.
UNIX_TARGETS = tuple(target.name for target in unix.TARGETS)

# Detect stray accesses to memory; slower, and with the same results.
GUARD_TARGETS = tuple(target.name for target in unix.GUARD_TARGETS)

__all__ = [
    "GUARD_TARGETS",
    "UNIX_TARGETS",
    "Completed",
    "Target",
    "TargetError",
    "TargetTimeout",
    "emulated_pico",
    "get_target",
    "is_target",
    "target_name",
    "target_names",
]


def target_names() -> tuple[str, ...]:
    """Return the names of all targets."""
    return tuple(_TARGETS)


def get_target(name: str) -> Target:
    """Return a target by its name, such as `unix32` or `unix32@1.26.1`.

    Raises:
        TargetError: if the name is unknown.
    """
    base, version = versions.split(name)
    try:
        target = _TARGETS[base]
    except KeyError:
        hint = f"choose from {' '.join(_TARGETS)}"
        raise TargetError(f"unknown target {name!r}: {emulated_pico(base) or hint}") from None
    return versions.of_version(target, version) if version else target


def emulated_pico(name: str) -> str:
    """Return which target is the emulated Pico if a name sounds like that; else ""."""
    return "rp2040 is the emulated Pico" if name.lower().startswith("pico") else ""


def is_target(name: str) -> bool:
    """Return True if a target has this name."""
    try:
        get_target(name)
    except TargetError:
        return False
    return True


def target_name(text: str) -> str:
    """Return the name of a target; for argparse."""
    try:
        return get_target(text).name
    except TargetError as e:
        raise argparse.ArgumentTypeError(str(e)) from None
