"""No command writes over what it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def overwritten(outputs: Iterable[Path | str], inputs: Iterable[Path | str]) -> str:
    """What is wrong if an output is one of the inputs, or two outputs are one; else "".

    By any name: links of both kinds, other ways to write a path, a file system that takes
    capitals for small letters. A folder among the inputs stands for the files in it.
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
    """The same for all names of one file; a file that does not exist yet is where it would be."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except OSError:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # a name that no file can have
        return str(path)


def _is_device(path):
    """Such as /dev/null."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _other(path, file):
    return "the file that it is made from" if path == file else f"{file}, which is read"
