"""Lists of files for mip, and the .mpy that they name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from mpconnxr import __version__
from tools.deploy.boards import load_boards
from tools.deploy.code import whole
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import built_package
from tools.machine import Machine
from tools.program.ways import way_of


def write_whole(folder: Path, machine: Machine | None = None) -> list[str]:
    """Write the package below dist/, for a machine or for any, and beside dist/ the list of it.

    Returns the paths of the files, without dist/ and the machine. Raises DeployError.
    """
    arch = machine.arch if machine else ""
    version = "_".join([arch, ".".join(map(str, machine.mpy))]) if machine else "any"
    place = f"dist/{version}"
    shutil.rmtree(folder / place, ignore_errors=True)
    files = whole(built_package(), machine)
    write_files(folder / place, files)
    listed = f"package-{arch}.json" if machine else "package.json"
    _write_list(folder / listed, [(name, f"{place}/{name}") for name in files])
    return list(files)


def write_model(
    folder: Path, model: ModelFile, machine: Machine, in_place: bool, n_cores: int = 1
) -> tuple[str, list[str]]:
    """Write a model's file, what it needs on a board, and package.json, which lists both.

    in_place: its weights are used where they lie; n_cores: that its program is for. Returns how
    the model lies there, in words, and the paths of the files. Raises DeployError.
    """
    way = way_of(model, built_package(), machine, in_place, n_cores=n_cores)
    files = {f.path: f.data for f in way.files} | {model.name: model.data}
    write_files(folder, files)
    _write_list(folder / "package.json", [(name, name) for name in files])
    return way.said, list(files)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder. Raises OSError."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def machines() -> dict[str, Machine]:
    """Return machines by architecture, with an inline assembler if all of its boards have it."""
    found = {}
    for board in load_boards():
        if board.arch:
            has = {board.inline_assembler} - {""}
            found[board.arch] = found.get(board.arch, has) & has
    return {arch: Machine(arch, frozenset(has)) for arch, has in sorted(found.items())}


def _write_list(path, urls):
    """Write a line for each file, so that a change of one is a change of one line."""
    lines = ",\n".join(f"    {json.dumps(pair)}" for pair in urls)
    path.write_text(f'{{\n  "urls": [\n{lines}\n  ],\n  "version": "{__version__}"\n}}\n')
