"""The tables of a file, number by number, in the order that docs/format.md has.

Checks no more than that the numbers are there: see reader for what they mean.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from . import layout
from .objects import is_object

STREAMED = (layout.CHUNK_STREAMED, layout.CHUNK_HALVES)
DIGEST_NBYTES = 32
_HEAD = struct.Struct("<8sHHIII32xII")


class Head(NamedTuple):
    """The header, but for its digest."""

    magic: bytes
    version: int
    kind: int
    features: int
    nbytes: int
    tables_nbytes: int
    n_chunks: int
    names_nbytes: int

    @staticmethod
    def of(data: bytes) -> Head:
        """Read a file's first bytes."""
        return Head(*_HEAD.unpack_from(data))

    @property
    def names_at(self) -> int:
        """The offset of the kernels' names."""
        return layout.HEADER_NBYTES + DIGEST_NBYTES * self.n_chunks

    @property
    def numbers_at(self) -> int:
        """The offset of the tables' numbers."""
        return self.names_at + self.names_nbytes

    def kernels(self, data: bytes) -> list[str]:
        """Return the names of the kernels."""
        return data[self.names_at : self.numbers_at].decode().split("\0")[:-1]


class Words:
    """Numbers that are taken one after another. Raises ValueError where they end too early."""

    def __init__(self, numbers: Iterable[int]):
        self._numbers = iter(numbers)

    def take(self, n: int) -> list[int]:
        """Return the next n numbers. Raises ValueError at the end of the tables."""
        found = list(islice(self._numbers, n))
        if len(found) != n:
            raise ValueError("the tables end too early")
        return found

    def next(self) -> int:
        """Return the next number."""
        return self.take(1)[0]

    def list(self) -> list[int]:
        """So many as the next one says."""
        return self.take(self.next())

    def rest(self) -> list[int]:
        """Return all numbers that are left."""
        return list(self._numbers)


class ChunkEntry(NamedTuple):
    """Where a chunk is in the file; place: in the arena, if it may be streamed."""

    kind: int
    start: int
    end: int
    place: int | None


def chunks(words: Words, head: Head) -> Iterator[ChunkEntry]:
    """Yield the entries of the chunks."""
    end = head.tables_nbytes
    for _ in range(head.n_chunks):
        kind, nbytes = words.take(2)
        place = words.next() if kind in STREAMED else None
        start = end + -end % layout.CHUNK_ALIGNMENT
        end = start + nbytes
        yield ChunkEntry(kind, start, end, place)


def has_size(dtype: int, storage: int, flags: int) -> bool:
    """Whether a tensor's entry says its bytes: they do not follow from its shape."""
    is_constant = storage == layout.STORAGE_DATA
    return flags == layout.FLAG_OPEN or is_object(dtype) and is_constant


class TensorEntry(NamedTuple):
    """place: bytes from the start of the arena, the state or the data, or a slot.

    size: in bytes, only where the format has it.
    """

    dtype: int
    storage: int
    flags: int
    dims: tuple[int, ...]
    place: int
    size: int | None

    @staticmethod
    def of(words: Words) -> TensorEntry:
        """Read the next entry."""
        dtype, about, rank = words.take(3)
        dims, place = tuple(words.take(rank)), words.next()
        storage, flags = about & 3, about >> 2
        size = words.next() if has_size(dtype, storage, flags) else None
        return TensorEntry(dtype, storage, flags, dims, place, size)


@dataclass
class NodeEntry:
    """A step. kernel: its number; place: word of the graph at which the parameters start; bodies:
    the words of each, and the place of the first of them.
    """

    kernel: int
    inputs: list[int]
    outputs: list[int]
    scratch: list[int]
    params: list[int]
    reads: list[int]
    place: int
    bodies: list[tuple[list[int], int]]

    @property
    def groups(self) -> tuple[list[int], ...]:
        """Its lists of numbers, in the order of the file."""
        return self.inputs, self.outputs, self.scratch, self.params, self.reads


def nodes(graph: list[int], first: int = 0) -> Iterator[NodeEntry]:
    """The steps of a graph or a body. Raises ValueError, IndexError."""
    at = 0
    while at < len(graph):
        kernel, *counts, n_bodies, n_reads = graph[at : at + 7]
        if len(counts) != 4 or min(kernel, *counts, n_bodies) < 0:
            raise ValueError("the graph ends inside a node")
        at += 7
        groups, bodies = [], []
        for n in [*counts, n_reads]:
            groups.append(graph[at : at + n])
            at += n
        place = first + at - len(groups[-1]) - len(groups[-2])
        for _ in range(n_bodies):
            n = graph[at]
            bodies.append((graph[at + 1 : at + 1 + n], first + at + 1))
            at += 1 + n
        yield NodeEntry(kernel, *groups, place, bodies)
