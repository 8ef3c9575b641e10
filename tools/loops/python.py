"""The modules of loops in Python, by family and form: sources as they are, or as they expand.

A source in loops/ whose functions have types is written once: its module has viper and the plain
form in it. One without types is the plain form and stays as it is, as one with MicroPython's
decorators does. What lies in loops/viper and loops/viper64 was tuned by hand. Files whose names
begin with _ have helpers for the build.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..made import SOURCES, shown
from .module import module
from .source import Source

FORMS = ("vfp", "viper64", "viper", "plain")  # those that are Python, not machine code


def folder(package: Path, form: str) -> Path:
    """Return where a package has the modules of a form: in loops/ if it is plain, else below."""
    return package / "loops" if form == "plain" else package / "loops" / form


class Module(NamedTuple):
    """shown: where its text comes from, as people say it."""

    text: str
    shown: str


@cache
def modules() -> dict[tuple[str, str], Module]:
    """Return the modules by family and form. Raises LoopError."""
    found = {}
    for form in FORMS:
        for path in sorted(folder(SOURCES, form).glob("[!_]*.py")):
            source = Source(path)
            is_made = source.is_typed and "\n@micropython." not in source.text
            text = module(source, form == "plain") if is_made else _as_it_is(source)
            found[path.stem, form] = Module(text, shown(path))
    return found


def _as_it_is(source: Source) -> str:
    """Return a source's text without the room of its declarations."""
    return re.sub(r"\n{4,}", "\n\n\n", source.text) + "\n"


def is_common(text: str) -> bool:
    """Return whether a plain module has its family's viper form in it."""
    return "\nCOMMON = True" in text


def viper(family: str) -> Module:
    """Return the module that has a family's loops in viper, if it has any."""
    tuned = modules().get((family, "viper"))
    return tuned or modules()[family, "plain"]
