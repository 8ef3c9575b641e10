"""Collect constants in chunks of a file, which a board reads and verifies as a whole."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

ALIGNMENT = 4  # of a constant in the file, in bytes, or its element's size if larger
CHUNK_NBYTES = 8192  # small constants share chunks of up to so many bytes


class Large:
    """The bytes of a large array, which are not copied and are compared by their digest."""

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
    """A constant in the form in which a file stores it.

    Attributes:
        raw: its bytes.
        halves: float16, which a board converts to float32.
        alignment: alignment in the file [bytes].
    """

    raw: bytes | Large
    halves: bool = False
    alignment: int = ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Return the bytes in memory, with padding."""
        return (len(self.raw) + -len(self.raw) % self.alignment) * (1 + self.halves)


@dataclass
class Chunk:
    """A chunk of constants.

    Attributes:
        parts: its bytes in the file, in pieces.
        stored_nbytes: number of these bytes.
        place: offset in the arena if it is streamed; None if it stays in memory.
        halves: it holds float16, which a board converts to float32.
    """

    parts: list[bytes | memoryview] = field(default_factory=list)
    stored_nbytes: int = 0
    place: int | None = None
    halves: bool = False

    @property
    def nbytes(self) -> int:
        """Return the bytes in memory."""
        return self.stored_nbytes * (1 + self.halves)

    def append(self, contents: Contents) -> int:
        """Append contents, and return their offset in the chunk.

        Empty contents take some bytes too; otherwise they might start where the next chunk begins
        and count as part of it.
        """
        raw = contents.raw or bytes(contents.alignment)
        padding = bytes(-self.stored_nbytes % contents.alignment)
        self.parts += [padding, raw.view if isinstance(raw, Large) else raw]
        self.stored_nbytes += len(padding) + len(raw)
        return self.stored_nbytes - len(raw)


@dataclass
class Weights:
    """All constants of a file.

    Attributes:
        chunks: all chunks in the order of the file.
        places: (number of the chunk, offset in it) of each constant, by its contents.
        streamed_nbytes: size of the arena with space for streamed chunks.
        window_nbytes: the most bytes of streamed chunks that are in memory at one time.
    """

    chunks: list[Chunk] = field(default_factory=list)
    places: dict[Contents, tuple[int, int]] = field(default_factory=dict)
    streamed_nbytes: int = 0
    window_nbytes: int = 0

    @property
    def held_nbytes(self) -> int:
        """Return the bytes that stay in memory on a board that streams weights."""
        return sum(c.stored_nbytes for c in self.chunks if c.place is None)

    def add(self, contents: Contents) -> None:
        """Add contents that stay in memory, unless they have been added before."""
        if contents in self.places:
            return
        if not self.chunks or self.chunks[-1].stored_nbytes + len(contents.raw) > CHUNK_NBYTES:
            self.chunks.append(Chunk())
        self.append(contents, len(self.chunks) - 1)

    def append(self, contents: Contents, number: int) -> None:
        """Append contents to a chunk, unless they have been added before."""
        if contents in self.places:
            return
        self.places[contents] = (number, self.chunks[number].append(contents))
