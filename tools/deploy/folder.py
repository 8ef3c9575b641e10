"""Writes what goes to a board into a folder here, for those who copy it by other means."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from tools import package
from tools.limits import overwritten

from .code import File
from .errors import DeployError


def write(folder: Path, files: Iterable[File], inputs: Iterable[Path]) -> None:
    """What they take the place of goes, all else in the folder stays.

    inputs: files that are read, and never written over. Raises DeployError.
    """
    files = list(files)
    if folder.exists() and not folder.is_dir():
        raise DeployError(f"{folder} is a file: give --to the name of a folder")
    target = folder.resolve()
    if package.SOURCES.resolve() in [(folder / package.NAME).resolve(), target, *target.parents]:
        raise DeployError(f"{folder} has the sources of mpconnxr: give --to another folder")
    try:
        files = _without_itself(folder, files)
        _refuse_inputs(folder, files, inputs)
        for file in files:
            _write(folder, file)
    except OSError as e:
        raise DeployError(f"{e.filename or folder}: {e.strerror}") from None


def _write(folder, file):
    """Whole, or not at all."""
    place = folder / file.path
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(place.name + ".new")
    try:
        new.write_bytes(file.data)
        new.replace(place)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    for path in file.stale:
        (folder / path).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # a form of loops of which nothing is left
            (folder / path).parent.rmdir()


def _without_itself(folder, files):
    """The files but the model, where it is in the folder already and is the one that was read."""
    model = folder / files[-1].path
    return files[:-1] if model.is_file() and model.read_bytes() == files[-1].data else files


def _refuse_inputs(folder, files, inputs):
    """Raises DeployError if a file that is written or goes is one that was read."""
    changed = [folder / path for file in files for path in (file.path, *file.stale)]
    if reason := overwritten(dict.fromkeys(changed), inputs):
        raise DeployError(f"--to {folder}: {reason}")
