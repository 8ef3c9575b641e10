"""A model file as editable parts, which can be written again with all digests right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from mpconnxr.tensor import is_object
from tools.format import dtypes, layout
from tools.format.layout import STREAMED
from tools.format.objects import STRING
from tools.format.reader import parse

OPEN, PACKED = layout.FLAG_OPEN, layout.FLAG_PACKED
_INTS = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True)
class Chunk:
    """A chunk of the file.

    Attributes:
        kind: CHUNK_... of layout.
        place: offset in the arena, if it may be streamed.
    """

    kind: int
    data: bytes
    place: int | None = None

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.data).digest()


@dataclass(frozen=True)
class Record:
    """A tensor.

    Attributes:
        place: bytes from the start of the arena, the state or the data, or a slot.
        size: size in bytes, only where the format has it.
    """

    dtype: int
    storage: int
    flags: int
    dims: tuple[int, ...]
    place: int
    size: int | None = None

    @property
    def has_size(self) -> bool:
        is_constant = self.storage == layout.STORAGE_DATA
        return bool(self.flags & OPEN) or is_constant and is_object(self.dtype)

    @property
    def nbytes(self) -> int:
        """Return the bytes that the tensor takes in a board's memory, at least 0."""
        if self.size is not None:
            return self.size
        n = ITEMSIZES.get(self.dtype, 1)
        for d in self.dims:
            n *= max(d, 0)
        return n


_WITHOUT_ELEMENTS = (STRING, 14, 15)  # strings, complex numbers
# Bytes of an element in memory, by dtype.
ITEMSIZES = {
    dtype: nbytes
    for dtype, nbytes in dtypes.ITEMSIZES.items()
    if nbytes and dtype not in _WITHOUT_ELEMENTS
}


@dataclass
class Node:
    """A step.

    Attributes:
        expressions: the expression that decides a parameter, by the parameter's number.
    """

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
    """A model file.

    Attributes:
        bounds: bounds of its run-time dims.
        expressions: words of its expressions.
    """

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
        """Return all steps, also those in bodies."""
        return list(_walk(self.nodes))

    def kernels(self) -> list[str]:
        return list(dict.fromkeys(node.kernel for node in self.all_nodes()))

    def data_offsets(self) -> list[tuple[int, Chunk]]:
        """Return (offset from the end of the tables, chunk) of each chunk."""
        places, at = [], 0
        for chunk in self.chunks:
            at += -at % layout.CHUNK_ALIGNMENT
            places.append((at, chunk))
            at += len(chunk.data)
        return places

    def data(self) -> bytes:
        """Return the bytes of the file."""
        kernels = self.kernels()
        graph, places = _graph_words(self.nodes, kernels)
        words = [self.arena, self.streamed]
        body = bytearray()
        for chunk in self.chunks:
            words += [chunk.kind, len(chunk.data)]
            words += [chunk.place or 0] if chunk.kind in STREAMED else []
            body += bytes(-len(body) % layout.CHUNK_ALIGNMENT) + chunk.data
        words.append(len(self.tensors))
        for t in self.tensors:
            words += [t.dtype, t.storage | t.flags << 2, len(t.dims), *t.dims, t.place]
            words += [t.size or 0] if t.has_size else []
        words += [len(self.inputs), *self.inputs, len(self.outputs), *self.outputs]
        if self.features & layout.FEATURE_RUNTIME_DIMS:
            words += self._runtime_words(places)
        words += [len(graph), *graph]
        names, numbers = layout.names_chunk(kernels), b"".join(map(_encoded, words))
        digests = [chunk.digest for chunk in self.chunks]
        return layout.file_bytes(
            layout.KIND_MODEL, self.features, digests, names, numbers, [bytes(body)]
        )

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
    """Return (words of the graph, [(index of a parameter's word, expression)])."""
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
    """Parse a model file; raise ConvertError if the device's reader would refuse it."""
    file = parse(data)
    tables_nbytes, runtime = file.tables_nbytes, file.runtime
    chunks = [Chunk(c.kind, data[c.offset : c.offset + c.nbytes], c.place) for c in file.chunks]
    return File(
        file.features,
        file.arena_nbytes,
        file.streamed_nbytes,
        chunks,
        [_record(t, tables_nbytes) for t in file.tensors],
        file.inputs,
        file.outputs,
        [*runtime.bounds] if runtime else [],
        [[*e] for e in runtime.expressions] if runtime else [],
        _nodes(file.steps, runtime.places if runtime else {}),
    )


def _record(t, tables_nbytes):
    flags = PACKED if t.packed else OPEN if t.is_open else 0
    place = t.offset - tables_nbytes if t.storage == layout.STORAGE_DATA else t.offset
    record = Record(t.dtype, t.storage, flags, t.shape, place)
    if not record.has_size:
        return record
    return replace(record, size=t.nbytes if t.is_open else t.stored_nbytes)


def _nodes(steps, places):
    nodes = []
    for step in steps:
        groups = step.inputs, step.outputs, step.scratch, step.params, step.reads
        bodies = [_nodes(body, places) for body in step.bodies]
        at = range(step.place, step.place + len(step.params))
        expressions = {k: places[word] for k, word in enumerate(at) if word in places}
        nodes.append(Node(step.kernel, *groups, bodies, expressions))
    return nodes
