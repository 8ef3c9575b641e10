"""Assembles a source and finds its functions in what comes out."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.elf import ABSOLUTE, FUNCTION, Elf

from ..loops import numbered
from .errors import AsmError
from .forms import FORMS, SOURCES
from .source import Source

# Everything lies at address 0, as it is written: a linker may not make branches shorter.
LINK = ("-nostdlib", "-Wl,--no-relax", "-Wl,-e,0", "-Wl,-Ttext=0", "-Wl,--build-id=none")


@dataclass(frozen=True)
class Function:
    """A loop's machine code, without what the decorator writes at both ends."""

    name: str
    arguments: int
    code: bytes


def assemble(source: Source, form: str) -> list[Function]:
    """The functions of a source in the order in which they stand there. Raises AsmError."""
    core, flags = FORMS[form].core, FORMS[form].flags
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.elf")
        define = f"-D{form.upper()}=1"
        flags = (*flags, *LINK, define, *names(source))
        done = core.run(*flags, "-I", SOURCES, "-o", out, source.path)
        if done.returncode:
            raise AsmError(f"{source.shown} as {form}:\n{done.stderr.strip()}")
        return _functions(Elf(out.read_bytes()))


def names(source: Source) -> list[str]:
    """Return defines of `p_x_start` and so on: indices of p in C, places in bytes in assembler."""
    nbytes = 1 if source.is_c else 4
    found = numbered.definitions(source.name)
    return [f"-D{name}={nbytes * i}" for name, i in found.items()]


def _functions(elf: Elf) -> list[Function]:
    found = []
    number = elf.number_of(".text")
    section = elf.sections[number]
    text = elf.data[section.offset : section.offset + section.nbytes]
    places = {
        name: symbol.value & ~1 if symbol.kind == FUNCTION else symbol.value
        for name, symbol in elf.symbols.items()
        if symbol.section == number
    }
    named = [name.removesuffix(".body") for name in places if name.endswith(".body")]
    for name in sorted(named, key=lambda name: places[name + ".body"]):
        first, end = places[name + ".body"], places[name + ".end"]
        arguments = elf.symbols[name + ".arguments"]
        if arguments.section != ABSOLUTE:
            raise AsmError(f"{name}.arguments is not a number")
        found.append(Function(name, arguments.value, text[first:end]))
    return found
