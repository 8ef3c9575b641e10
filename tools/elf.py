"""What a 32-bit little-endian ELF file says of its sections and symbols."""

from __future__ import annotations

import struct
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

FUNCTION = 2  # kind of a symbol whose lowest bit says Thumb
ABSOLUTE = 0xFFF1  # section of a symbol that is a number
_HEADER = struct.Struct("<32xI10xHHH")
_SYMBOL = struct.Struct("<3IBBH")
_SYMTAB = 2
_EXECUTABLE = 4


class Section(NamedTuple):
    """name: where it is among the names of sections; the fields that follow link are left out."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    nbytes: int
    link: int

    @property
    def is_code(self) -> bool:
        """Whether the processor executes it."""
        return bool(self.flags & _EXECUTABLE and self.nbytes)


class Symbol(NamedTuple):
    """section: the number of the one it is in."""

    value: int
    nbytes: int
    kind: int
    section: int


class Elf:
    """A relocatable file of 32-bit code."""

    def __init__(self, data: bytes):
        self.data = data
        at, size, n, self._names = _HEADER.unpack_from(data)
        self.sections = [
            Section(*struct.unpack_from("<7I", data, at + i * size)) for i in range(n)
        ]

    @staticmethod
    @cache
    def of(path: Path) -> Elf:
        """Read once."""
        return Elf(path.read_bytes())

    def number_of(self, name: str) -> int:
        """That of the section with this name."""
        names = self.sections[self._names].offset
        return [self._text(names + section.name) for section in self.sections].index(name)

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Return the symbols by name."""
        found = {}
        for section in self.sections:
            if section.type == _SYMTAB:
                strings = self.sections[section.link].offset
                end = section.offset + section.nbytes
                for at in range(section.offset, end, _SYMBOL.size):
                    name, value, nbytes, info, _, of = _SYMBOL.unpack_from(self.data, at)
                    found[self._text(strings + name)] = Symbol(value, nbytes, info & 15, of)
        return found

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()
