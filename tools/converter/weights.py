"""Constants as chunks of a file: what a board reads and verifies in one piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ir import Step

ALIGNMENT = 16  # bytes, of a constant in the file
CHUNK_NBYTES = 8192  # small constants share a chunk of so many bytes


@dataclass
class Chunk:
    """place: offset in the arena, of one that is streamed; None: held in memory."""

    data: bytearray = field(default_factory=bytearray)
    place: int | None = None


@dataclass
class Weights:
    """places: (chunk, offset in it) by contents; reads: chunks that are read before a step.

    streamed_nbytes: of the arena with room for the streamed chunks; window_nbytes: the most of
    these that are in it at one time.
    """

    chunks: list[Chunk] = field(default_factory=list)
    places: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    reads: dict[Step, list[int]] = field(default_factory=dict)
    streamed_nbytes: int = 0
    window_nbytes: int = 0

    @property
    def held_nbytes(self) -> int:
        """Bytes that a board which streams the others has in memory all the time."""
        return sum(len(c.data) for c in self.chunks if c.place is None)

    def add(self, raw: bytes) -> None:
        """Adds contents that are held, unless they are there."""
        if raw in self.places:
            return
        if not self.chunks or len(self.chunks[-1].data) + len(raw) > CHUNK_NBYTES:
            self.chunks.append(Chunk())
        self.append(raw)

    def append(self, raw: bytes) -> None:
        """Adds contents to the last chunk, unless they are somewhere."""
        if raw in self.places:
            return
        data = self.chunks[-1].data
        data.extend(bytes(-len(data) % ALIGNMENT))
        self.places[raw] = (len(self.chunks) - 1, len(data))
        data.extend(raw)
