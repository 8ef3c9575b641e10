"""Cache the new names of a package's identifiers, chosen once for each state of its sources.

tools/deploy/code.py and tools/program compile under these names; renaming.py chooses them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path

from tools import package as built
from tools.mpy import firmware

from .modules import Package
from .renaming import Renamed, Renaming, Source

PROGRAM = "mpconnxr.programs.m"  # placeholder for the module of any program
_START = Path(__file__).parent.parent / "program" / "start.py"  # part of each program
_RULES = (
    "board_names.py",
    "core.py",
    "folding.py",
    "public_names.txt",
    "renaming.py",
    "scopes.py",
)
_PYTHON = ("plain", "viper")  # forms written in Python
_PACKAGES = ("mpconnxr", "mpconnxr.ops")
_FRAME = re.compile(r'(File ")(\w+)(", line \d+, in )(\w+)')
_FUNCTION = re.compile(r"^ *def (\w+)", re.MULTILINE)


def names_of(package: Package) -> Renaming:
    """Return the new names of a package. Kernels from elsewhere do not change them."""
    return _names(package.folder)


# {module: {new name: original names}} of functions in modules that this process has built.
_built: dict[str, dict[str, set[str]]] = {}


def renamed(package: Package, module: str, text: str) -> str:
    """Return a module's source with its names as boards have them, line by line.

    Raises:
        DeployError: if the module imports a name that another module keeps to itself.
    """
    if package.keeps_names:
        return text
    made = _renamed(package.folder, module, text)
    _built.setdefault(shown(module), {}).update(made.functions)
    return made.text


@lru_cache(1024)
def _renamed(folder: Path, module: str, text: str) -> Renamed:
    return _names(folder).renamed(text, module, module in _PACKAGES)


def shown(module: str) -> str:
    """Return the file name of a module in tracebacks, which is never renamed."""
    return module.split(".")[0 if module == PROGRAM else -1]


def in_sources(traceback: str) -> str:
    """Return a board's traceback with functions named as in the sources.

    Only modules that this process has built are known.
    """
    return _FRAME.sub(_in_sources, traceback)


def _in_sources(frame: re.Match) -> str:
    old = _built.get(frame[2], {}).get(frame[4])
    return f"{frame[1]}{frame[2]}{frame[3]}{' or '.join(sorted(old))}" if old else frame[0]


@cache
def _names(folder: Path) -> Renaming:
    if folder != built.folder():
        return _chosen(Package(folder))
    rules = [Path(__file__).with_name(name) for name in _RULES]
    contents = [path.read_bytes() for path in (*rules, firmware.NAMES, _START)]
    digest = hashlib.sha256(b"\0".join(contents)).hexdigest()
    path = folder.parent / f"names-{digest[:16]}.json"
    if path.exists():
        return _read(json.loads(path.read_text()))
    renaming = _chosen(Package(folder))
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(asdict(renaming), default=sorted))
    unfinished.rename(path)  # processes that race write the same contents
    return renaming


def _read(fields: dict) -> Renaming:
    return Renaming(**{k: frozenset(v) if isinstance(v, list) else v for k, v in fields.items()})


def _chosen(package: Package) -> Renaming:
    sources, machine_code = [Source(_START.read_text(), PROGRAM)], set()
    for path in package.paths():
        form = package.loops.form_of(path)
        if form is None or form.startswith(_PYTHON):
            module = package.module(path)
            sources.append(Source(path.read_text(), module, module in _PACKAGES))
        else:  # assembler with the same functions
            machine_code |= {*_FUNCTION.findall(path.read_text())}
    return Renaming.of(sources, machine_code)
