"""Constants as chunks of a file: what a board reads and verifies in one piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

ALIGNMENT = 4  # bytes, of a constant in the file, or its element's size where that is more
CHUNK_NBYTES = 8192  # small constants share a chunk of so many bytes


class Contents(NamedTuple):
    """A constant as it lies in a file. halves: float16 that a board makes float32 of."""

    raw: bytes
    halves: bool = False
    alignment: int = ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Bytes in memory, with padding."""
        return (len(self.raw) + -len(self.raw) % self.alignment) * (1 + self.halves)


@dataclass
class Chunk:
    """place: offset in the arena, of one that is streamed; None: held in memory."""

    data: bytearray = field(default_factory=bytearray)
    place: int | None = None
    halves: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return len(self.data) * (1 + self.halves)


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
        return sum(len(c.data) for c in self.chunks if c.place is None)

    def add(self, contents: Contents) -> None:
        """Adds contents that are held, unless they are there."""
        if contents in self.places:
            return
        if not self.chunks or len(self.chunks[-1].data) + len(contents.raw) > CHUNK_NBYTES:
            self.chunks.append(Chunk())
        self.append(contents, len(self.chunks) - 1)

    def append(self, contents: Contents, number: int) -> None:
        """Adds contents to a chunk, unless they are somewhere."""
        if contents in self.places:
            return
        data = self.chunks[number].data
        data.extend(bytes(-len(data) % contents.alignment))
        self.places[contents] = (number, len(data))
        data.extend(contents.raw)
