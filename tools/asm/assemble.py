"""Assemble a source and extract its functions from the ELF file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.elf import ABSOLUTE, FUNCTION, Elf

from ..loops import numbered
from .errors import AsmError
from .forms import FORMS, SOURCES
from .source import Source

# Everything lies at address 0, and the linker must not shorten branches.
LINK = ("-nostdlib", "-Wl,--no-relax", "-Wl,-e,0", "-Wl,-Ttext=0", "-Wl,--build-id=none")


@dataclass(frozen=True)
class Function:
    """Machine code of a loop, without the entry and exit that the decorator adds."""

    name: str
    arguments: int
    code: bytes


def assemble(source: Source, form: str) -> list[Function]:
    """Return the functions of a source in their order.

    Raises:
        AsmError: if the source is wrong.
    """
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
    """Return #defines of `p_x_start` and so on: indices of p for C, byte offsets for assembler."""
    nbytes = 1 if source.is_c else 4
    indices = numbered.definitions(source.name)
    return [f"-D{name}={nbytes * i}" for name, i in indices.items()]


def _functions(elf: Elf) -> list[Function]:
    functions = []
    number = elf.number_of(".text")
    section = elf.sections[number]
    text = elf.data[section.offset : section.offset + section.nbytes]
    offsets = {
        name: symbol.value & ~1 if symbol.kind == FUNCTION else symbol.value
        for name, symbol in elf.symbols.items()
        if symbol.section == number
    }
    named = [name.removesuffix(".body") for name in offsets if name.endswith(".body")]
    for name in sorted(named, key=lambda name: offsets[name + ".body"]):
        first, end = offsets[name + ".body"], offsets[name + ".end"]
        arguments = elf.symbols[name + ".arguments"]
        if arguments.section != ABSOLUTE:
            raise AsmError(f"{name}.arguments is not a number")
        functions.append(Function(name, arguments.value, text[first:end]))
    return functions
