"""Arrays of the user's, from .npy and .npz files."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from .errors import UsageError

_STARTS = (b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")  # what else there is, numpy unpickles


def read_array(path: str | Path) -> np.ndarray:
    """The array in a .npy. Raises UsageError."""
    found = read_arrays(path, ".npy")
    if isinstance(found, dict):
        raise UsageError(f"{path} is a .npz file: a .npy with one array is needed")
    return found


def read_arrays(
    path: str | Path, kinds: str = ".npy or .npz"
) -> np.ndarray | dict[str, np.ndarray]:
    """The array in a .npy, or those in a .npz by name. Raises UsageError.

    kinds: what a message says is needed.
    """
    try:
        with open(path, "rb") as file:
            if not file.read(6).startswith(_STARTS):
                raise UsageError(f"{path} is no {kinds} file")
        found = np.load(path, allow_pickle=False)
        return dict(found) if isinstance(found, np.lib.npyio.NpzFile) else found
    except FileNotFoundError:
        raise UsageError(f"{path} is not there") from None
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror or e}") from None
    except (ValueError, EOFError, BadZipFile) as e:
        what = (
            "holds objects: numbers or strings are needed"
            if "allow_pickle" in str(e)
            else f"is damaged: {e}"
        )
        raise UsageError(f"{path} {what}") from None
