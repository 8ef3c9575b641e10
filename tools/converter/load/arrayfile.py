"""Read the user's arrays from .npy and .npz files, which are not trusted.

A header may claim more than the file holds, and nothing is unpickled.
"""

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

_STARTS = (b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")  # numpy would unpickle other files
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MOST = 2 << 30  # bytes of the arrays in a .npz, where no limit on memory holds


def read_array(path: str | Path) -> np.ndarray:
    """Return the array in a .npy file.

    Raises:
        UsageError: if the file is damaged or not a .npy.
        OSError: if it cannot be opened.
    """
    array = read_arrays(path, ".npy")
    if isinstance(array, dict):
        raise UsageError(f"{path} is a .npz file: a .npy with one array is needed")
    return array


def read_arrays(
    path: str | Path, kinds: str = ".npy or .npz"
) -> np.ndarray | dict[str, np.ndarray]:
    """Return the array in a .npy file, or the arrays in a .npz file by name.

    Args:
        path: the file.
        kinds: kinds of files that are allowed, for messages.

    Raises:
        UsageError: if the file is damaged or of another kind.
        OSError: if it cannot be opened.
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
    """The file is intact, but its contents cannot be used; the message says why."""


# Errors of numpy, zipfile and zlib, also for unknown compression methods and passwords.
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
    """Return the array in a .npy of `nbytes` bytes, after a check of its header against them."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise _Unfit("holds objects: numbers or strings are needed")
    if dtype.names or dtype.subdtype:
        raise _Unfit(f"holds records ({str(dtype)[:80]}): numbers or strings are needed")
    expected, available = math.prod(shape) * dtype.itemsize, nbytes - file.tell()
    if min(shape, default=0) < 0 or expected > available:
        raise ValueError(f"shape {list(shape)} takes {expected:,} bytes, there are {available:,}")
    file.seek(0)
    return npy.read_array(file, allow_pickle=False)
