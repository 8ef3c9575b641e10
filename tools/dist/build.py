"""Write the files of packages for mip, and the lists that name them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from mpconnxr import __version__
from tools.deploy.code import whole
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import built_package
from tools.machine import Machine
from tools.program.build import plan_deployment


def write_whole(folder: Path, machine: Machine | None = None) -> list[str]:
    """Write the package below dist/ for a machine (None: any), and a list of its files.

    Returns:
        The paths of the files below the package's folder.

    Raises:
        DeployError: if a module does not compile.
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
    """Write a model's file, its code, and a package.json that lists them.

    Args:
        folder: the folder for the files.
        model: the model.
        machine: code that the board can run.
        in_place: weights are read from flash, without a copy.
        n_cores: cores that run a program.

    Returns:
        How the model is deployed, for people, and the paths of the files.

    Raises:
        DeployError: if code does not compile.
    """
    plan = plan_deployment(model, built_package(), machine, in_place, n_cores=n_cores)
    files = {f.path: f.data for f in plan.files} | {model.name: model.data}
    write_files(folder, files)
    _write_list(folder / "package.json", [(name, name) for name in files])
    return plan.summary, list(files)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder.

    Raises:
        OSError: if a file cannot be written.
    """
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _write_list(path, urls):
    """Write the list of files with one line each, for small differences between versions."""
    lines = ",\n".join(f"    {json.dumps(pair)}" for pair in urls)
    path.write_text(f'{{\n  "urls": [\n{lines}\n  ],\n  "version": "{__version__}"\n}}\n')
