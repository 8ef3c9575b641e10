"""Copies what has changed to the board."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from .device import Device, Digest
from .errors import DeployError
from .modules import Package, kernels_of

# Bars are for people: none in a log.
_BAR = {"leave": False, "disable": not sys.stderr.isatty()}


@dataclass(frozen=True)
class File:
    """path: on the board; data: what shall be there."""

    path: str
    data: bytes

    def under(self, folder: str) -> File:
        return File(f"{folder.rstrip('/')}/{self.path}", self.data)


def files_for(model: Path, package: Package) -> list[File]:
    """All of the package that a model needs, then the model; paths as they are below a folder."""
    try:
        data = model.read_bytes()
    except OSError as e:
        raise DeployError(f"{model}: {e.strerror}") from None
    sources = package.files_for(kernels_of(data))
    files = [File(package.place(p), p.read_bytes()) for p in sources]
    return [*files, File(model.name, data)]


def changed(device: Device, files: list[File]) -> list[File]:
    """Those that the board has not, or has otherwise."""
    files = tqdm(files, desc="compare", unit="file", **_BAR)
    return [f for f in files if device.digest(f.path) != Digest.of(f.data)]


def copy(device: Device, files: list[File], folder: str) -> None:
    """Writes the files. Raises DeployError before the first if they cannot all fit."""
    total = sum(len(f.data) for f in files)
    free = device.free_bytes(folder)
    replaced = sum(old.nbytes for f in files if (old := device.digest(f.path)))
    if total - replaced > free:
        raise DeployError(f"{total:,} bytes to copy, {free:,} free on the board in {folder}")
    with tqdm(total=total, unit="B", unit_scale=True, **_BAR) as bar:
        for f in files:
            bar.set_description(f.path.rpartition("/")[2])
            device.write(f.path, f.data, bar.update)
