"""Divert what C libraries write to stderr, so that the user reads only our report."""

from __future__ import annotations

import os
import sys

_file: int | None = None  # descriptor that receives it, in a child
_original: int | None = None  # copy of the original stderr while it is diverted


def set_file(descriptor: int) -> None:
    """Set the descriptor that receives it from the next `divert` on."""
    global _file
    _file = descriptor


def divert() -> None:
    """Redirect the descriptor 2 to the file; Python's own sys.stderr stays."""
    global _original
    if _file is None or _original is not None:
        return
    try:
        _original = os.dup(2)
    except OSError:  # there is no stderr
        return
    sys.stderr.flush()
    os.dup2(_file, 2)
    sys.stderr = os.fdopen(os.dup(_original), "w", 1, sys.stderr.encoding, "backslashreplace")


def restore() -> None:
    """Undo `divert`."""
    global _original
    if _original is not None:
        os.dup2(_original, 2)
        os.close(_original)
        _original = None
