"""Writes what goes to a board into a folder here, for those who copy it by other means."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .code import File
from .errors import DeployError
from .modules import PACKAGE


def write(folder: Path, files: Iterable[File]) -> None:
    """What they take the place of goes, all else in the folder stays. Raises DeployError."""
    if folder.exists() and not folder.is_dir():
        raise DeployError(f"{folder} is a file: give --to the name of a folder")
    if (folder / PACKAGE.name).resolve() == PACKAGE.resolve():
        raise DeployError(f"{folder} has the sources of mpconnxr: give --to another folder")
    try:
        for file in files:
            place = folder / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.data)
            for path in file.stale:
                (folder / path).unlink(missing_ok=True)
    except OSError as e:
        raise DeployError(f"{e.filename or folder}: {e.strerror}") from None
