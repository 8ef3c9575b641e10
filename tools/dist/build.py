"""Lists of files for mip, and the .mpy that they name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from mpconnxr import __version__, forms
from tools.deploy.boards import load_boards
from tools.mpy.compile import compiled
from tools.deploy.machine import Machine, is_native
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import PACKAGE, Package, device_paths
from tools.program.ways import way_of

ROOT = PACKAGE.parent


def write_source(folder: Path) -> list[str]:
    """package.json there, of all modules as source; their names in mpconnxr's folder."""
    paths = [path for path in device_paths() if path.parent.name not in forms.COMPILED]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    _write_list(folder / "package.json", [(name, name) for name in names])
    return names


def write_compiled(folder: Path, machine: Machine) -> list[str]:
    """package-ARCH.json there, and below dist/ what it lists.

    Returns the names of the .mpy. Raises DeployError.
    """
    made = {}
    for path in device_paths():
        source, name = path.read_text(), path.relative_to(ROOT).as_posix()
        if _is_for(path, source, machine):
            march = machine.arch if is_native(source) else ""
            made[Path(name).with_suffix(".mpy").as_posix()] = compiled(source, name, march)
    version = ".".join(map(str, machine.mpy))
    place = f"dist/{machine.arch}_{version}"
    shutil.rmtree(folder / place, ignore_errors=True)
    for name, mpy in made.items():
        path = folder / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mpy)
    urls = [(name, f"{place}/{name}") for name in made]
    _write_list(folder / f"package-{machine.arch}.json", urls)
    return list(made)


def write_model(
    folder: Path, model: ModelFile, machine: Machine, in_place: bool, n_cores: int = 1
) -> tuple[str, list[str]]:
    """A model's file, what it needs on a board, and package.json, which lists both.

    in_place: its weights are used where they lie; n_cores: that its program is for. Returns how
    it lies there, in words, and the paths of the files. Raises DeployError.
    """
    way = way_of(model, Package(), machine, in_place, n_cores=n_cores)
    files = {f.path: f.data for f in way.files} | {model.name: model.data}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    _write_list(folder / "package.json", [(name, name) for name in files])
    return way.said, list(files)


def machines() -> dict[str, Machine]:
    """By architecture; with an inline assembler where all of its boards have it."""
    found = {}
    for board in load_boards():
        if board.arch:
            has = {board.inline_assembler} - {""}
            found[board.arch] = found.get(board.arch, has) & has
    return {arch: Machine(arch, frozenset(has)) for arch, has in sorted(found.items())}


def _is_for(path: Path, source: str, machine: Machine) -> bool:
    """False for a form of loops that such a board never takes."""
    if path.parent.parent != PACKAGE / "loops":
        return True
    return forms.suits(path.parent.name, machine.number) and machine.runs(source)


def _write_list(path, urls):
    """A line for each file, so that a change of one is a change of one line."""
    lines = ",\n".join(f"    {json.dumps(pair)}" for pair in urls)
    path.write_text(f'{{\n  "urls": [\n{lines}\n  ],\n  "version": "{__version__}"\n}}\n')
