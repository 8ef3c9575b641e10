"""Read sections and symbols of a 32-bit little-endian ELF file."""

from __future__ import annotations

import struct
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

FUNCTION = 2  # kind of a symbol; bit 0 of its value marks Thumb code
ABSOLUTE = 0xFFF1  # section of symbols with absolute values
_HEADER = struct.Struct("<32xI10xHHH")
_SYMBOL = struct.Struct("<3IBBH")
_SYMTAB = 2
_EXECUTABLE = 4


class Section(NamedTuple):
    """A section header up to `link`; the fields behind it are omitted.

    Attributes:
        name: offset of its name in the section of names.
    """

    name: int
    type: int
    flags: int
    address: int
    offset: int
    nbytes: int
    link: int

    @property
    def is_code(self) -> bool:
        """True if the processor executes it."""
        return bool(self.flags & _EXECUTABLE and self.nbytes)


class Symbol(NamedTuple):
    """A symbol of the symbol table.

    Attributes:
        section: number of its section.
    """

    value: int
    nbytes: int
    kind: int
    section: int


class Elf:
    """An ELF file of 32-bit code."""

    def __init__(self, data: bytes):
        self.data = data
        at, size, n, self._names = _HEADER.unpack_from(data)
        self.sections = [
            Section(*struct.unpack_from("<7I", data, at + i * size)) for i in range(n)
        ]

    @staticmethod
    @cache
    def of(path: Path) -> Elf:
        """Read a file; the result is cached."""
        return Elf(path.read_bytes())

    def number_of(self, name: str) -> int:
        """Return the number of the section with a name."""
        names = self.sections[self._names].offset
        return [self._text(names + section.name) for section in self.sections].index(name)

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Symbols by name."""
        result = {}
        for section in self.sections:
            if section.type == _SYMTAB:
                strings = self.sections[section.link].offset
                end = section.offset + section.nbytes
                for at in range(section.offset, end, _SYMBOL.size):
                    name, value, nbytes, info, _, of = _SYMBOL.unpack_from(self.data, at)
                    result[self._text(strings + name)] = Symbol(value, nbytes, info & 15, of)
        return result

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()
