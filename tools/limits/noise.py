"""What libraries in C write to stderr: apart, as one report is what a user wants to read."""

from __future__ import annotations

import os
import sys

_file: int | None = None  # descriptor that takes it, in a child
_kept: int | None = None  # stderr as it was, while it is diverted


def goes_to(descriptor: int) -> None:
    """From the next `divert` on."""
    global _file
    _file = descriptor


def divert() -> None:
    """Python's own stderr stays; other writers to its descriptor get the file."""
    global _kept
    if _file is None or _kept is not None:
        return
    try:
        _kept = os.dup(2)
    except OSError:  # there is none
        return
    sys.stderr.flush()
    os.dup2(_file, 2)
    sys.stderr = os.fdopen(os.dup(_kept), "w", 1, sys.stderr.encoding, "backslashreplace")


def restore() -> None:
    """Give stderr back."""
    global _kept
    if _kept is not None:
        os.dup2(_kept, 2)
        os.close(_kept)
        _kept = None
