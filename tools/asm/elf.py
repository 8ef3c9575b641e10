"""Reads code and symbols out of a 32-bit little-endian ELF file."""

from __future__ import annotations

import struct
from typing import NamedTuple

_ABSOLUTE = 0xFFF1  # section of a symbol that is a number
_FUNCTION = 2  # kind of a symbol whose lowest bit says Thumb


class Code(NamedTuple):
    """The section .text: its bytes, what lies where in it, and the numbers that have names."""

    text: bytes
    places: dict[str, int]
    numbers: dict[str, int]


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


def read_code(elf: bytes) -> Code:
    """What the assembler made; the file is linked to address 0."""
    table, size, number, names = struct.unpack_from("<I10xHHH", elf, 32)
    sections = [_Section(*struct.unpack_from("<7I", elf, table + i * size)) for i in range(number)]
    titles = sections[names].offset
    index = {_string(elf, titles + section.name): i for i, section in enumerate(sections)}
    text, symbols = sections[index[".text"]], sections[index[".symtab"]]
    strings = sections[symbols.link].offset
    places, numbers = {}, {}
    for at in range(symbols.offset, symbols.offset + symbols.size, 16):
        name, value, _size, kind, _other, section = struct.unpack_from("<IIIBBH", elf, at)
        if section == index[".text"]:
            places[_string(elf, strings + name)] = value & ~1 if kind & 15 == _FUNCTION else value
        elif section == _ABSOLUTE:
            numbers[_string(elf, strings + name)] = value
    return Code(elf[text.offset : text.offset + text.size], places, numbers)


def _string(elf: bytes, at: int) -> str:
    return elf[at : elf.index(0, at)].decode()
