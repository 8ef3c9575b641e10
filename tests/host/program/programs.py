"""Run models as programs and with the kernels, for the tests of this folder."""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

from tests.host.device import small
from tools import package
from tools.machine import Machine
from tools.program.bundle import Bundle, bundle, has_form
from tools.program.call import Recording
from tools.program.cores import Pair
from tools.program.record import record
from tools.program.table import table, table_of

PACKAGE = package.folder()
SCRIPT = (small.SCRIPTS / "programs.py").read_text()


def machine_of(target) -> Machine:
    return Machine.for_arch(target.arch) if target.arch else Machine("")


def recorded(data: bytes, target, stream=False) -> Recording:
    machine = machine_of(target)
    return record(data, lambda *form: has_form(machine, *form), stream)


def made(data: bytes, target, stream=False) -> Bundle:
    machine = machine_of(target)
    recording = recorded(data, target, stream)
    made = table(data, lambda *form: has_form(machine, *form), stream)
    return bundle(data, recording, machine, [made])


def made_for_two(data: bytes, machine: Machine, pair: Pair) -> Bundle:
    return bundle(data, pair.cores[0], machine, [table_of(core) for core in pair.cores])


@functools.cache
def _package() -> Path:
    return Path(tempfile.mkdtemp(prefix="mpconnxr-programs-")) / "mpconnxr"


def package(bundles: list[Bundle]) -> Path:
    """Return a copy of the package with these programs in it."""
    folder = _package()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "programs").mkdir(exist_ok=True)
    for each in bundles:
        (folder / "programs" / f"{each.name}.py").write_text(each.source)
        (folder / "programs" / f"{each.name}_steps.py").write_text(each.steps)
    return folder


def run(target, script: str, bundles: list[Bundle], files: dict[str, bytes]) -> list[str]:
    """Return the lines that a script printed with these programs in its package."""
    completed = target.run(script, files={"mpconnxr": package(bundles), **files}, timeout=600)
    assert completed.returncode == 0 and not completed.stderr, (
        completed.stdout[-2000:] + completed.stderr
    )
    return completed.stdout.splitlines()
