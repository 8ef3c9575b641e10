"""A model file as parts that can be changed, and written again with all digests right."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from tools.format import layout, tables
from tools.format.dtypes import itemsize

OPEN, PACKED = layout.FLAG_OPEN, layout.FLAG_PACKED
STREAMED = tables.STREAMED
_STRING, _FIRST_MAP = 8, 64
_INTS = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True)
class Chunk:
    """kind: CHUNK_... of layout; place: in the arena, if it may be streamed."""

    kind: int
    data: bytes
    place: int | None = None

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.data).digest()


@dataclass(frozen=True)
class Record:
    """A tensor. place: bytes from the start of the arena, the state or the data, or a slot.

    size: in bytes, only where the format has it.
    """

    dtype: int
    storage: int
    flags: int
    dims: tuple[int, ...]
    place: int
    size: int | None = None

    @property
    def has_size(self) -> bool:
        is_object = self.dtype == _STRING or self.dtype >= _FIRST_MAP
        return bool(self.flags & OPEN) or is_object and self.storage == layout.STORAGE_DATA

    @property
    def nbytes(self) -> int:
        """As a board has them in memory; at least 0."""
        if self.size is not None:
            return self.size
        n = ITEMSIZES.get(self.dtype, 1)
        for d in self.dims:
            n *= max(d, 0)
        return n


_WITHOUT_ITEMS = (_STRING, 14, 15)  # strings, complex numbers
# Bytes of an element in memory, by dtype.
ITEMSIZES = {dtype: itemsize(dtype) for dtype in range(1, 29) if dtype not in _WITHOUT_ITEMS}


@dataclass
class Node:
    """A step. expressions: by number of a parameter, the expression that decides it."""

    kernel: str
    inputs: list[int]
    outputs: list[int]
    scratch: list[int]
    params: list[int]
    reads: list[int]
    bodies: list[list[Node]] = field(default_factory=list)
    expressions: dict[int, int] = field(default_factory=dict)

    def copy(self) -> Node:
        groups = (self.inputs, self.outputs, self.scratch, self.params, self.reads)
        bodies = [[node.copy() for node in body] for body in self.bodies]
        return Node(self.kernel, *(list(g) for g in groups), bodies, dict(self.expressions))


@dataclass
class File:
    """A model. bounds: of its run-time dims; expressions: their words."""

    features: int
    arena: int
    streamed: int
    chunks: list[Chunk]
    tensors: list[Record]
    inputs: list[int]
    outputs: list[int]
    bounds: list[int]
    expressions: list[list[int]]
    nodes: list[Node]

    def copy(self) -> File:
        return replace(
            self,
            chunks=list(self.chunks),
            tensors=list(self.tensors),
            inputs=list(self.inputs),
            outputs=list(self.outputs),
            bounds=list(self.bounds),
            expressions=[list(e) for e in self.expressions],
            nodes=[node.copy() for node in self.nodes],
        )

    def all_nodes(self) -> list[Node]:
        """Also those in bodies."""
        return list(_walk(self.nodes))

    def kernels(self) -> list[str]:
        return list(dict.fromkeys(node.kernel for node in self.all_nodes()))

    def data_places(self) -> list[tuple[int, Chunk]]:
        """Where each chunk begins, counted from the end of the tables."""
        places, at = [], 0
        for chunk in self.chunks:
            at += -at % 16
            places.append((at, chunk))
            at += len(chunk.data)
        return places

    def data(self) -> bytes:
        """The bytes of the file."""
        kernels = self.kernels()
        graph, places = _graph_words(self.nodes, kernels)
        words = [self.arena, self.streamed]
        body = bytearray()
        for chunk in self.chunks:
            words += [chunk.kind, len(chunk.data)]
            words += [chunk.place or 0] if chunk.kind in STREAMED else []
            body += bytes(-len(body) % 16) + chunk.data
        words.append(len(self.tensors))
        for t in self.tensors:
            words += [t.dtype, t.storage | t.flags << 2, len(t.dims), *t.dims, t.place]
            words += [t.size or 0] if t.has_size else []
        words += [len(self.inputs), *self.inputs, len(self.outputs), *self.outputs]
        if self.features & layout.FEATURE_RUNTIME_DIMS:
            words += self._runtime_words(places)
        words += [len(graph), *graph]
        names = layout.names_chunk(kernels)
        digests = b"".join(chunk.digest for chunk in self.chunks)
        tables = digests + names + b"".join(map(_encoded, words))
        tables += bytes(-len(tables) % 16)
        nbytes = layout.HEADER_NBYTES + len(tables)
        head = struct.pack(
            "<8sHHIII",
            *(layout.MAGIC, layout.VERSION, layout.KIND_MODEL),
            *(self.features, nbytes + len(body), nbytes),
        )
        rest = struct.pack("<2I", len(self.chunks), len(names)) + tables
        return head + hashlib.sha256(head + rest).digest() + rest + bytes(body)

    def _runtime_words(self, places):
        words = [*self.bounds, len(self.expressions)]
        for expression in self.expressions:
            words += [len(expression), *expression]
        words += [word for place in places for word in place]
        return [len(words), *words, len(self.bounds)]


def _encoded(value):
    # what does not fit into a number of the format would not be a case of its own
    return _NUMBERS.get(value) or layout.number(min(max(value, _INTS[0]), _INTS[-1]))


_NUMBERS = {value: layout.number(value) for value in range(-256, 4096)}


def _walk(nodes) -> Iterator[Node]:
    for node in nodes:
        yield node
        for body in node.bodies:
            yield from _walk(body)


def _graph_words(nodes, kernels, first=0):
    """(the words, [(place of a parameter, expression)])."""
    words, places = [], []
    for node in nodes:
        groups = (node.inputs, node.outputs, node.scratch, node.params)
        counts = [*map(len, groups), len(node.bodies), len(node.reads)]
        words += [kernels.index(node.kernel), *counts]
        words += node.inputs + node.outputs + node.scratch
        at = first + len(words)
        places += [(at + k, e) for k, e in node.expressions.items()]
        words += node.params + node.reads
        for body in node.bodies:
            inner, inner_places = _graph_words(body, kernels, first + len(words) + 1)
            words += [len(inner), *inner]
            places += inner_places
    return words, places


def read(data: bytes) -> File:
    """A file that the converter wrote. Raises ValueError for what is no model."""
    head = tables.Head.of(data)
    found = head.magic, head.version, head.kind
    if found != (layout.MAGIC, layout.VERSION, layout.KIND_MODEL):
        raise ValueError("not a model of this format")
    words = tables.Words(layout.numbers_of(data, head.numbers_at))
    arena, streamed = words.take(2)
    chunks = [
        Chunk(kind, data[start:end], place)
        for kind, start, end, place in tables.chunks(words, head)
    ]
    tensors = [Record(*tables.TensorEntry.of(words)) for _ in range(words.next())]
    inputs, outputs = words.list(), words.list()
    bounds, expressions, places = [], [], {}
    if head.features & layout.FEATURE_RUNTIME_DIMS:
        bounds, expressions, places = _runtime(tables.Words(words.list()), words.next())
    nodes = _nodes(words.list(), 0, head.kernels(data), places)
    return File(
        *(head.features, arena, streamed, chunks, tensors, inputs, outputs),
        *(bounds, expressions, nodes),
    )


def _runtime(words, n):
    bounds = words.take(n)
    expressions = [words.list() for _ in range(words.next())]
    pairs = words.rest()
    return bounds, expressions, dict(zip(pairs[::2], pairs[1::2], strict=True))


def _nodes(graph, first, kernels, places):
    nodes = []
    for entry in tables.nodes(graph, first):
        bodies = [_nodes(*body, kernels, places) for body in entry.bodies]
        at = range(entry.place, entry.place + len(entry.params))
        expressions = {k: places[word] for k, word in enumerate(at) if word in places}
        nodes.append(Node(kernels[entry.kernel], *entry.groups, bodies, expressions))
    return nodes
