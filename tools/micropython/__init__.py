"""MicroPython as a managed target: get it, build it, run scripts on it.

    from tools.micropython import get_target
    done = get_target("unix").run("import mpconnxr", files={"mpconnxr": Path("mpconnxr")})
    print(done.stdout, done.stderr, done.returncode)

A target is an entry of the table `TARGETS` in `unix.py`, `cpython.py`, `qemu.py`, `rp2040.py` or
`webassembly.py`; docs/targets.md says what each one proves.
"""

from . import cpython, qemu, rp2040, unix, webassembly
from .errors import TargetError, TargetTimeout
from .target import Completed, Target

_ALL = (
    *unix.TARGETS,
    *unix.GUARD_TARGETS,
    *cpython.TARGETS,
    *qemu.TARGETS,
    *rp2040.TARGETS,
    *webassembly.TARGETS,
)
_TARGETS = {target.name: target for target in _ALL}

# Those that every test of device code runs on: they are quick, and differ in what matters.
UNIX_TARGETS = tuple(target.name for target in unix.TARGETS)

# Those that see a stray access: slower, and never needed to find a result.
GUARD_TARGETS = tuple(target.name for target in unix.GUARD_TARGETS)

__all__ = [
    "GUARD_TARGETS",
    "UNIX_TARGETS",
    "Completed",
    "Target",
    "TargetError",
    "TargetTimeout",
    "get_target",
    "target_names",
]


def target_names() -> tuple[str, ...]:
    return tuple(_TARGETS)


def get_target(name: str) -> Target:
    try:
        return _TARGETS[name]
    except KeyError:
        raise TargetError(f"unknown target {name!r}: choose from {' '.join(_TARGETS)}") from None
