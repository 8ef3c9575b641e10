"""What a firmware's ELF file (32 bits, little-endian) says of its memory."""

import struct
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

_SECTIONS_AT, _SECTIONS_N = 32, 48  # in the file's header
_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<3IBBH")
_SYMTAB = 2
_EXECUTABLE = 4
_APART = 64  # bytes; what lies nearer belongs together


class Span(NamedTuple):
    start: int
    nbytes: int

    def __str__(self) -> str:
        return f"{self.start:#x}:{self.nbytes:#x}"


class Elf:
    def __init__(self, path: Path):
        self._data = path.read_bytes()
        (at,) = struct.unpack_from("<I", self._data, _SECTIONS_AT)
        (n,) = struct.unpack_from("<H", self._data, _SECTIONS_N)
        self._sections = [
            _SECTION.unpack_from(self._data, at + i * _SECTION.size) for i in range(n)
        ]

    @staticmethod
    @cache
    def of(path: Path) -> "Elf":
        """Read once."""
        return Elf(path)

    def code(self) -> Iterator[Span]:
        """Where instructions lie."""
        found = sorted((s[3], s[5]) for s in self._sections if s[2] & _EXECUTABLE and s[5])
        start, end = found[0][0], found[0][0]
        for address, nbytes in found:
            if address > end + _APART:
                yield Span(start, end - start)
                start = address
            end = address + nbytes
        yield Span(start, end - start)

    def symbol(self, name: str) -> Span:
        return self.symbols[name]

    @cached_property
    def symbols(self) -> dict[str, Span]:
        found = {}
        for section in self._sections:
            if section[1] == _SYMTAB:
                strings = self._sections[section[6]]
                for at in range(section[4], section[4] + section[5], _SYMBOL.size):
                    name, value, nbytes = _SYMBOL.unpack_from(self._data, at)[:3]
                    found[self._text(strings[4] + name)] = Span(value, nbytes)
        return found

    def _text(self, at: int) -> str:
        return self._data[at : self._data.index(b"\0", at)].decode()
