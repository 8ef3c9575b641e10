"""Deploy damaged files as programs, as flash.py does; files that cannot be one keep kernels.

A program contains whatever no kernel refuses on the host: it must stray as little as the kernels
do. And it must run with no file but its own.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

from tools import package
from tools.deploy.errors import DeployError
from tools.deploy.model_file import parse_model
from tools.errors import ConvertError
from tools.machine import Machine
from tools.micropython import Target
from tools.program.bundle import FOLDER, bundle, has_form
from tools.program.call import CannotRecord
from tools.program.record import record
from tools.program.table import table

from .batch import Case, Fault
from .case_format import STREAM

ANOTHER = "not its program's file"  # a change of a case
_SECONDS = 60  # that a host may take for a program
_CHANGED = 0.2  # of the files are another one than their program's when they are loaded


def deployed(cases: Sequence[Case], target: Target, code: Path, rng: Random):
    """Copy mpconnxr to a folder, with a program of each case that can be one.

    Args:
        cases: the cases.
        target: the target that runs them.
        code: the new folder.
        rng: random numbers.

    Returns:
        The cases as they are to be loaded, and faults of the host.
    """
    shutil.copytree(package.folder(), code, ignore=shutil.ignore_patterns("__pycache__"))
    (code / FOLDER).mkdir()
    machine = Machine.for_arch(target.arch) if target.arch else Machine("")
    loaded, faults = [], []
    for i, case in enumerate(cases):
        case = replace(case, form=0)  # where forms are preferred there are kernels
        try:
            made = _program(case, machine, rng)
        except (CannotRecord, ConvertError, DeployError):
            made = None
        except Exception as e:
            faults.append(Fault(i, "host", f"{type(e).__name__}: {e}"))
            made = None
        if made:
            (code / FOLDER / f"{made.name}.py").write_text(made.source)
            if rng.random() < _CHANGED:
                case = _another(case, rng)
        loaded.append(case)
    return loaded, faults


def _program(case, machine, rng):
    def form(*of):
        return has_form(machine, *of)

    with _limited(_SECONDS):
        parse_model("model.bin", case.data)  # as flash.py does first
        stream = bool(case.options & STREAM)
        recording = record(case.data, form, stream)
        return bundle(case.data, recording, machine, [table(case.data, form, stream)])


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError if the body takes longer."""

    def stop(*_):
        raise TimeoutError(f"{seconds} s")

    original = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, original)


def _another(case, rng):
    """Return a case whose file differs from the program's only behind the digest that names it."""
    data = bytearray(case.data)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(32, len(data))] ^= 1 << rng.randrange(8)
    return replace(case, data=bytes(data), changes=(*case.changes, ANOTHER))
