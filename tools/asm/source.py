"""Parse what an assembler or C source declares about itself in comments.

A source begins with a comment:

    // What the loops compute. It becomes the module's docstring.
    //
    // Forms: armv7m armv7em

Other declarations may stand anywhere:

    //> from . import what      a line of Python for the module; lines above the first function
    //> other_name = name       go before the functions, all others after them
    //+ function as _name       a function of the family to compile from viper, under another
                                name or, without `as`, under its own
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
    """A file of assembler or C.

    Attributes:
        path: path of the file.
        core: core of the functions.
        name: name of the family.
        forms: forms to make of it.
        doc: the module's docstring.
        before: lines of Python before the functions.
        after: lines of Python after the functions.
        compiled: (function in viper, its name in the module).
    """

    path: Path
    core: Core
    name: str
    forms: tuple[str, ...]
    doc: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    compiled: tuple[tuple[str, str], ...]

    @property
    def is_c(self) -> bool:
        """True if it is C, whose code depends on the version of the compiler."""
        return self.path.suffix == ".c"

    @property
    def shown(self) -> str:
        return shown(self.path)


def sources() -> list[Source]:
    """Return all sources, sorted by name. Raises AsmError."""
    paths = [
        (path, core) for core in CORES for path in sorted((SOURCES / core.name).glob("*.[Sc]"))
    ]
    return [read(path, core) for path, core in paths]


def read(path: Path, core: Core) -> Source:
    """Read a source.

    Raises:
        AsmError: if its declarations are missing or wrong.
    """
    lines = path.read_text().splitlines()
    about = []
    for line in lines:
        if not line.startswith("//"):
            break
        about.append(line[2:].removeprefix(" "))
    if not about or len(about[-1].split()) < 2 or not about[-1].startswith("Forms: "):
        raise AsmError(f"{path}: the comment at its top must end with `// Forms: ...`")
    forms = tuple(about[-1].split()[1:])
    if unknown := [form for form in forms if form not in FORMS or FORMS[form].core != core]:
        raise AsmError(f"{path}: {core.name} has no form {' '.join(unknown)}")
    first = next((i for i, line in enumerate(lines) if line.startswith(_BEGINS)), 0)
    names = numbered.definitions(path.name.partition(".")[0])
    before, after = (
        tuple(_python(line, names) for line in part if line.startswith("//>"))
        for part in (lines[:first], lines[first:])
    )
    doc = "\n".join(about[:-1]).strip()
    plus = [line.split() for line in lines if line.startswith("//+")]
    compiled = tuple((words[1], words[-1]) for words in plus)
    return Source(path, core, path.name.partition(".")[0], forms, doc, before, after, compiled)


def _python(line: str, names: Mapping[str, int]) -> str:
    """Return a line of Python with indices in the place of parameters' names."""
    line = line[3:].removeprefix(" ")
    return re.sub(r"\bp\[(_[A-Z]\w*)\]", lambda match: f"p[{names[f'p{match[1].lower()}']}]", line)
