"""Names that a model may have on a board: beside it lie its slots and its pointers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_NAME = re.compile(r"\w[\w .+,()=@~-]*\.bin")
_LONGEST = 200  # bytes in UTF-8: file systems take 255, a slot's name is longer


def problem(name: str) -> str:
    """Why a model's file cannot have this name on a board, "" if it can."""
    if not _NAME.fullmatch(name):
        return "a model's name on a board is letters, digits and _ . - and ends in .bin"
    if len(name.encode()) > _LONGEST:
        return f"a model's name on a board has at most {_LONGEST} bytes"
    stem = PurePosixPath(name).stem
    if stem.lower().endswith((".a", ".b")):
        return f"{name} is the name of a slot of {stem[:-2]}.bin"
    if stem != stem.rstrip(" ."):
        return "a model's name on a board has no space or dot before .bin"
    return ""


def alike(paths: Iterable[str], there: Iterable[str]) -> str:
    """A path on the board that differs from one of these in case alone, "" if none."""
    lower = {path.lower(): path for path in paths}
    return next((p for p in there if lower.get(p.lower(), p) != p), "")
