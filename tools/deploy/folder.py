"""Write the files for a board into a folder on this computer, to be copied by other means."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from tools import package
from tools.limits import overwritten

from .code import File
from .errors import DeployError


def write(folder: Path, files: Iterable[File], inputs: Iterable[Path]) -> None:
    """Write files into a folder and delete those that they supersede; other files stay.

    Args:
        folder: the folder; made if missing.
        files: the files, the model last.
        inputs: files that were read, which are never overwritten.

    Raises:
        DeployError: if a file cannot be written, or is an input.
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
    """Write a file by a rename, so that it is never incomplete, and delete obsolete files."""
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
        with contextlib.suppress(OSError):  # not empty, or missing
            (folder / path).parent.rmdir()


def _without_itself(folder, files):
    """Return the files without the model if the folder's copy is the one that was read."""
    model = folder / files[-1].path
    return files[:-1] if model.is_file() and model.read_bytes() == files[-1].data else files


def _refuse_inputs(folder, files, inputs):
    """Raise DeployError if a file to be written or deleted is one that was read.

    Args:
        folder: the folder to write to.
        files: the files to write, with the stale ones to delete.
        inputs: paths that were read.
    """
    changed = [folder / path for file in files for path in (file.path, *file.stale)]
    if reason := overwritten(dict.fromkeys(changed), inputs):
        raise DeployError(f"--to {folder}: {reason}")
