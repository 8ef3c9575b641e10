"""Reads what a source says about itself, in comments.

// What the loops compute. It becomes the module's docstring.
//
// Forms: armv7m armv7em

//> from . import what                Python of the module: before its functions, or
//> other_name = name                 behind them if it stands behind the first one

//+ function as _name                 A function of the family that is compiled from viper, under
                                      a name of its own or, without `as`, under this one
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..loops import numbered
from ..made import shown
from .errors import AsmError
from .forms import CORES, FORMS, SOURCES, Core

_BEGINS = ("function ", "int ")  # a function, in assembler and in C


@dataclass(frozen=True)
class Source:
    """A file of assembler or of C; before and behind: lines of Python; compiled: functions in
    viper, with their names in the module.
    """

    path: Path
    core: Core
    name: str
    forms: tuple[str, ...]
    doc: str
    before: tuple[str, ...]
    behind: tuple[str, ...]
    compiled: tuple[tuple[str, str], ...]

    @property
    def is_c(self) -> bool:
        """Whether it is C, whose code depends on the version of the compiler."""
        return self.path.suffix == ".c"

    @property
    def shown(self) -> str:
        return shown(self.path)


def sources() -> list[Source]:
    """All sources there are, by name. Raises AsmError."""
    found = [
        (path, core) for core in CORES for path in sorted((SOURCES / core.name).glob("*.[Sc]"))
    ]
    return [read(path, core) for path, core in found]


def read(path: Path, core: Core) -> Source:
    """Raises AsmError where a source does not say what is made of it."""
    lines = path.read_text().splitlines()
    about = []
    for line in lines:
        if not line.startswith("//"):
            break
        about.append(line[2:].removeprefix(" "))
    if not about or len(about[-1].split()) < 2 or not about[-1].startswith("Forms: "):
        raise AsmError(f"{path}: the comment at its top has to end with `// Forms: ...`")
    forms = tuple(about[-1].split()[1:])
    if unknown := [form for form in forms if form not in FORMS or FORMS[form].core != core]:
        raise AsmError(f"{path}: {core.name} has no form {' '.join(unknown)}")
    first = next((i for i, line in enumerate(lines) if line.startswith(_BEGINS)), 0)
    names = numbered.definitions(path.name.partition(".")[0])
    before, behind = (
        tuple(_python(line, names) for line in part if line.startswith("//>"))
        for part in (lines[:first], lines[first:])
    )
    doc = "\n".join(about[:-1]).strip()
    plus = [line.split() for line in lines if line.startswith("//+")]
    compiled = tuple((words[1], words[-1]) for words in plus)
    return Source(path, core, path.name.partition(".")[0], forms, doc, before, behind, compiled)


def _python(line: str, names: Mapping[str, int]) -> str:
    """Return a line of Python, with positions in place of the names of parameters."""
    line = line[3:].removeprefix(" ")
    return re.sub(r"\bp\[(_[A-Z]\w*)\]", lambda found: f"p[{names[f'p{found[1].lower()}']}]", line)
