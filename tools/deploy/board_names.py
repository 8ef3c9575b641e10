"""The new names of a package for boards, which are chosen once for each state of its sources."""

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

PROGRAM = "mpconnxr.programs.m"  # stands for the module of any program
_START = Path(__file__).parent.parent / "program" / "start.py"  # is in each of them
_RULES = (
    "board_names.py",
    "core.py",
    "folding.py",
    "public_names.txt",
    "renaming.py",
    "scopes.py",
)
_PYTHON = ("plain", "viper")  # forms whose sources are
_PACKAGES = ("mpconnxr", "mpconnxr.ops")
_FRAME = re.compile(r'(File ")(\w+)(", line \d+, in )(\w+)')
_FUNCTION = re.compile(r"^ *def (\w+)", re.MULTILINE)


def names_of(package: Package) -> Renaming:
    """Return the new names of a package, which kernels of others' do not change."""
    return _names(package.folder)


# What functions of the modules that this process has built were called, by their new names.
_built: dict[str, dict[str, set[str]]] = {}


def renamed(package: Package, module: str, text: str) -> str:
    """Return the source of a module of a package in the names that boards have, line by line.

    Raises DeployError.
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
    """Return what tracebacks call a module's file: a name that stays in any case."""
    return module.split(".")[0 if module == PROGRAM else -1]


def in_sources(traceback: str) -> str:
    """Return a board's traceback with functions as the sources call them.

    It knows the modules that this process has built.
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
    found = _chosen(Package(folder))
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(asdict(found), default=sorted))
    unfinished.rename(path)  # of several processes each has made the same
    return found


def _read(fields: dict) -> Renaming:
    return Renaming(**{k: frozenset(v) if isinstance(v, list) else v for k, v in fields.items()})


def _chosen(package: Package) -> Renaming:
    sources, machine_code = [Source(_START.read_text(), PROGRAM)], set()
    for path in package.paths():
        form = package.loops.form_of(path)
        if form is None or form.startswith(_PYTHON):
            module = package.module(path)
            sources.append(Source(path.read_text(), module, module in _PACKAGES))
        else:  # has the functions of the other forms, most of it is no Python
            machine_code |= {*_FUNCTION.findall(path.read_text())}
    return Renaming.of(sources, machine_code)
