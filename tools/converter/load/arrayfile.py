"""Arrays of the user's, from .npy and .npz files: no more than their files hold."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy

from tools import limits

from ..errors import UsageError

_STARTS = (b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")  # what else there is, numpy unpickles
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MOST = 2 << 30  # bytes of the arrays in a .npz, where no limit on memory holds


def read_array(path: str | Path) -> np.ndarray:
    """The array in a .npy. Raises UsageError, OSError."""
    found = read_arrays(path, ".npy")
    if isinstance(found, dict):
        raise UsageError(f"{path} is a .npz file: a .npy with one array is needed")
    return found


def read_arrays(
    path: str | Path, kinds: str = ".npy or .npz"
) -> np.ndarray | dict[str, np.ndarray]:
    """The array in a .npy, or those in a .npz by name. Raises UsageError, OSError.

    kinds: what a message says is needed.
    """
    limits.at(f"reading {path}")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not Path(path).is_dir():
            raise UsageError(f"{path} is not a {kinds} file")
        with open(path, "rb") as file:
            if not (start := file.read(6)).startswith(_STARTS):
                raise UsageError(f"{path} is not a {kinds} file")
            file.seek(0)
            if start == _STARTS[0]:
                return _array(file, os.fstat(file.fileno()).st_size)
            with ZipFile(file) as archive:
                return dict(_members(archive))
    except _Unfit as e:
        raise UsageError(f"{path} {e}") from None
    except _DAMAGES as e:
        raise UsageError(f"{path} is damaged: {e}") from None


class _Unfit(Exception):
    """Says what the file has that nothing here takes."""


# What numpy, zipfile and zlib raise: a method of compression that does not exist, a password.
_DAMAGES = (ValueError, EOFError, BadZipFile, SyntaxError, NotImplementedError, RuntimeError)


def _members(archive: ZipFile) -> Iterator[tuple[str, np.ndarray]]:
    infos = archive.infolist()
    size, most = sum(info.file_size for info in infos), limits.memory_limit() or _MOST
    if size > most:
        raise _Unfit(f"holds {size:,} bytes when it is unpacked, {most:,} are the most (--memory)")
    for info in infos:
        if not info.filename.endswith(".npy"):
            raise _Unfit(f"holds {info.filename}, which is not an array")
        with archive.open(info) as file:
            yield info.filename.removesuffix(".npy"), _array(file, info.file_size)


def _array(file: BinaryIO, nbytes: int) -> np.ndarray:
    """The array in a .npy of so many bytes, whose header is not to be believed."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise _Unfit("holds objects: numbers or strings are needed")
    if dtype.names or dtype.subdtype:
        raise _Unfit(f"holds records ({str(dtype)[:80]}): numbers or strings are needed")
    wanted, there = math.prod(shape) * dtype.itemsize, nbytes - file.tell()
    if min(shape, default=0) < 0 or wanted > there:
        raise ValueError(f"shape {list(shape)} takes {wanted:,} bytes, there are {there:,}")
    file.seek(0)
    return npy.read_array(file, allow_pickle=False)
