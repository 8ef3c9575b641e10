"""Constants as chunks of a file: what a board reads and verifies in one piece."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

ALIGNMENT = 4  # bytes, of a constant in the file, or its element's size where that is more
CHUNK_NBYTES = 8192  # small constants share a chunk of so many bytes


class Large:
    """Many bytes of an array, which are not copied; equal to others by their digest."""

    def __init__(self, view: memoryview):
        self.view = view

    @cached_property
    def _digest(self):
        return hashlib.sha256(self.view).digest()

    def __len__(self) -> int:
        return len(self.view)

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Large) and self._digest == other._digest


class Contents(NamedTuple):
    """A constant as it lies in a file. halves: float16 that a board makes float32 of."""

    raw: bytes | Large
    halves: bool = False
    alignment: int = ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Bytes in memory, with padding."""
        return (len(self.raw) + -len(self.raw) % self.alignment) * (1 + self.halves)


@dataclass
class Chunk:
    """parts: its bytes in the file, one behind the other, and how many they are;
    place: offset in the arena, of one that is streamed; None: held in memory.
    """

    parts: list[bytes | memoryview] = field(default_factory=list)
    stored_nbytes: int = 0
    place: int | None = None
    halves: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.stored_nbytes * (1 + self.halves)

    def append(self, contents: Contents) -> int:
        """Adds contents; returns where in the chunk they are.

        No bytes at all take some, too: else they might lie where the next chunk begins, as a part
        of that one.
        """
        raw = contents.raw or bytes(contents.alignment)
        padding = bytes(-self.stored_nbytes % contents.alignment)
        self.parts += [padding, raw.view if isinstance(raw, Large) else raw]
        self.stored_nbytes += len(padding) + len(raw)
        return self.stored_nbytes - len(raw)


@dataclass
class Weights:
    """places: (chunk, offset in it) by contents.

    streamed_nbytes: of the arena with room for the streamed chunks; window_nbytes: the most of
    these that are in it at one time.
    """

    chunks: list[Chunk] = field(default_factory=list)
    places: dict[Contents, tuple[int, int]] = field(default_factory=dict)
    streamed_nbytes: int = 0
    window_nbytes: int = 0

    @property
    def held_nbytes(self) -> int:
        """Bytes that a board which streams the others has in memory all the time."""
        return sum(c.stored_nbytes for c in self.chunks if c.place is None)

    def add(self, contents: Contents) -> None:
        """Adds contents that are held, unless they are there."""
        if contents in self.places:
            return
        if not self.chunks or self.chunks[-1].stored_nbytes + len(contents.raw) > CHUNK_NBYTES:
            self.chunks.append(Chunk())
        self.append(contents, len(self.chunks) - 1)

    def append(self, contents: Contents, number: int) -> None:
        """Adds contents to a chunk, unless they are somewhere."""
        if contents in self.places:
            return
        self.places[contents] = (number, self.chunks[number].append(contents))
