"""Modules of loops in Python, by family and form: sources as they are, or expanded.

A source in loops/ whose functions have types is written once: its module serves viper and the
plain form. A source without types is the plain form and stays as it is, as does one with
MicroPython's decorators. loops/viper and loops/viper64 hold hand-tuned sources. Files whose names
begin with _ hold helpers for the build.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..made import SOURCES, shown
from .module import module
from .source import Source

FORMS = ("vfp", "viper64", "viper", "plain")  # forms that are Python, not machine code


def folder(package: Path, form: str) -> Path:
    """Return a package's folder for the modules of a form: loops/ if plain, else one below."""
    return package / "loops" if form == "plain" else package / "loops" / form


class Module(NamedTuple):
    """A module of loops.

    Attributes:
        text: its source.
        shown: origin of the text, as shown to people.
    """

    text: str
    shown: str


@cache
def modules() -> dict[tuple[str, str], Module]:
    """Return the modules by family and form.

    Raises:
        LoopError: if a source cannot be translated.
    """
    by_family = {}
    for form in FORMS:
        for path in sorted(folder(SOURCES, form).glob("[!_]*.py")):
            source = Source(path)
            is_made = source.is_typed and "\n@micropython." not in source.text
            text = module(source, form == "plain") if is_made else _as_it_is(source)
            by_family[path.stem, form] = Module(text, shown(path))
    return by_family


def _as_it_is(source: Source) -> str:
    """Return a source's text without its declarations of parameters."""
    return re.sub(r"\n{4,}", "\n\n\n", source.text) + "\n"


def is_common(text: str) -> bool:
    """Return True if a plain module also has its family's viper form."""
    return "\nCOMMON = True" in text


def viper(family: str) -> Module:
    """Return the module of a family's viper form: a tuned one, or else the plain one expanded."""
    tuned = modules().get((family, "viper"))
    return tuned or modules()[family, "plain"]
