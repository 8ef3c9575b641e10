"""Detect a command that would write over a file that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def overwritten(outputs: Iterable[Path | str], inputs: Iterable[Path | str]) -> str:
    """Return a message if an output is also an input or another output; "" otherwise.

    Paths are compared by the files they lead to: through links, in other spellings, and on file
    systems that ignore case. A folder among the inputs stands for the files in it.
    """
    files = {}
    for path in inputs:
        for file in _files(Path(path)):
            files.setdefault(_identity(file), file)
    written: dict = {}
    for path in map(Path, outputs):
        key = _identity(path)
        if key in files and not _is_device(path):
            return f"{path} would be written over {_other(path, files[key])}: give another name"
        if key in written and not _is_device(path):
            return f"{path} would be written over {written[key]}, another output"
        written[key] = path
    return ""


def _files(path):
    return [path, *path.rglob("*")] if path.is_dir() else [path]


def _identity(path):
    """Return a key that is equal for all names of one file, also if it does not exist yet."""
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except OSError:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # an impossible name, such as one with a NUL
        return str(path)


def _is_device(path):
    """Return True for device files such as /dev/null."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _other(path, file):
    return "the file that it is made from" if path == file else f"{file}, which is read"
