"""Reads a .bin on the host: models, as far as tools look into them, and tensor files."""

from __future__ import annotations

import hashlib
import itertools
import math
import struct
from dataclasses import dataclass

import numpy as np
from onnx import helper

from tools.errors import ConvertError
from tools.limits import printable

from . import layout, stored_extents
from .dtypes import itemsize, packed_bits
from .objects import STRING, is_object, string_array, strings_from

_MAX_DEPTH = 8  # of bodies in bodies
_STREAMED = (layout.CHUNK_STREAMED, layout.CHUNK_HALVES)


@dataclass
class Chunk:
    """kind: CHUNK_... of layout; intact: its digest is right; place: in the arena, if streamed."""

    kind: int
    offset: int
    data: bytes
    intact: bool
    place: int | None = None

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


@dataclass
class StoredTensor:
    """storage: STORAGE_... of layout; offset: from the start of the arena, the file or the state,
    or an object's slot.

    packed: several elements lie in a byte; nbytes: as they lie; dims_text: the shape, with
    expressions where a run decides it.
    """

    dtype: int
    shape: tuple[int, ...]
    storage: int
    offset: int
    nbytes: int
    packed: bool
    name: str = ""
    dims_text: str = ""

    @property
    def np_dtype(self) -> np.dtype:
        if is_object(self.dtype):
            return np.dtype(object)
        return helper.tensor_dtype_to_np_dtype(self.dtype)


@dataclass
class StoredNode:
    """One step: tensor ids and parameters. depth: 1 in the body of another step, and so on.

    reads: chunks that are read before it; place: word of the graph at which the parameters start.
    """

    kernel: str
    inputs: list[int]
    outputs: list[int]
    scratch: list[int]
    params: list[int]
    reads: list[int]
    depth: int = 0
    place: int = 0
    name: str = ""


@dataclass
class Stored:
    """The contents of a .bin; inputs, outputs: tensor ids; intact: the tables' digest is right.

    padding_nbytes: of the tables, behind the numbers.
    """

    kind: int
    version: int
    features: int
    intact: bool
    arena_nbytes: int
    streamed_nbytes: int
    chunks: list[Chunk]
    tensors: list[StoredTensor]
    inputs: list[int]
    outputs: list[int]
    nodes: list[StoredNode]
    extents: stored_extents.StoredExtents
    tables_nbytes: int
    padding_nbytes: int


def read(data: bytes) -> Stored:
    """Parses a model or tensor file. Raises ConvertError."""
    if data[:8] != layout.MAGIC:
        raise ConvertError("not a converted model: it does not start with MPCONNXR")
    try:
        stored = _Tables(data).read()
    except (struct.error, IndexError, TypeError, ValueError, KeyError) as e:
        raise ConvertError(f"not a valid .bin: {e}") from None
    if stored.version != layout.VERSION:
        raise ConvertError(f"file format {stored.version}, these tools read {layout.VERSION}")
    return stored


def read_tensors(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a tensor file by name, in order. Raises ConvertError."""
    stored = read(data)
    if stored.kind != layout.KIND_TENSORS:
        raise ConvertError("this is a model, not a tensor file")
    arrays = {}
    for t in (stored.tensors[i] for i in stored.outputs):
        raw = data[t.offset : t.offset + t.nbytes]
        try:
            arrays[t.name] = _elements(t, raw).reshape(t.shape)
        except ValueError as e:
            raise ConvertError(f"tensor {t.name}: {e}") from None
    return arrays


def _elements(t, raw):
    if t.dtype == STRING:
        return string_array(strings_from(raw))
    if not t.packed:
        return np.frombuffer(raw, t.np_dtype)
    return layout.unpacked(raw, t.np_dtype, packed_bits(t.dtype), math.prod(t.shape))


class _Tables:
    """Takes the tables of a file apart, one after another."""

    def __init__(self, data):
        self.data = data
        head = struct.unpack_from("<8sHHIII32xII", data)
        _, self.version, self.kind, self.features, nbytes, self.tables_nbytes = head[:6]
        self.n_chunks, names_nbytes = head[6:]
        if nbytes != len(data):
            raise ValueError(f"{len(data)} bytes long, should be {nbytes}")
        names_at = layout.HEADER_NBYTES + 32 * self.n_chunks
        at = names_at + names_nbytes
        self.kernels = [printable(n) for n in data[names_at:at].decode().split("\0")[:-1]]
        self.numbers = layout.numbers_of(data, at)

    def take(self, n):
        values = list(itertools.islice(self.numbers, n))
        if len(values) != n or n < 0:
            raise ValueError("the tables end too early")
        return values

    def list(self):
        return self.take(*self.take(1))

    def read(self) -> Stored:
        arena_nbytes, streamed_nbytes = self.take(2)
        chunks = self._chunks()
        tensors = [self._tensor() for _ in range(*self.take(1))]
        inputs, outputs = self.list(), self.list()
        extents = stored_extents.StoredExtents()
        if self.features & layout.FEATURE_RUNTIME_DIMS:
            extents = stored_extents.read(self.list(), *self.take(1))
        nodes = self._nodes(self.list(), self.kernels)
        for t in tensors:
            in_slot = t.storage == layout.STORAGE_OBJECT
            dims = ("?" if in_slot and d < 0 else extents.dim(d) for d in t.shape)
            t.dims_text = ", ".join(dims)
        for i in sum((n.inputs + n.outputs + n.scratch for n in nodes), inputs + outputs):
            if not 0 <= i < len(tensors):
                raise ValueError(f"tensor id {i}")
        tables = self.data[: self.tables_nbytes]
        intact = hashlib.sha256(tables[:24] + tables[56:]).digest() == tables[24:56]
        stored = Stored(
            *(self.kind, self.version, self.features, intact, arena_nbytes, streamed_nbytes),
            *(chunks, tensors, inputs, outputs, nodes, extents),
            *(self.tables_nbytes, sum(1 for _ in self.numbers)),
        )
        _name(stored)
        return stored

    def _chunks(self):
        chunks, at = [], self.tables_nbytes
        for i in range(self.n_chunks):
            kind, nbytes = self.take(2)
            place = self.take(1)[0] if kind in _STREAMED else None
            offset = at + -at % 16
            at = offset + nbytes
            contents = self.data[offset:at]
            if len(contents) != nbytes:
                raise ValueError("a chunk lies outside the file")
            digest_at = layout.HEADER_NBYTES + 32 * i
            # of a seal, which signs the tables, they hold no digest
            is_seal = kind == layout.CHUNK_SEAL and i == self.n_chunks - 1
            right = bytes(32) if is_seal else hashlib.sha256(contents).digest()
            intact = right == self.data[digest_at : digest_at + 32]
            chunks.append(Chunk(kind, offset, contents, intact, place))
        return chunks

    def _tensor(self):
        dtype, about, rank = self.take(3)
        shape = tuple(self.take(rank))
        (offset,) = self.take(1)
        storage, flags = about & 3, about >> 2
        packed = flags == layout.FLAG_PACKED and packed_bits(dtype) > 0
        bits = 8 * itemsize(dtype)  # KeyError for a dtype that is none
        size = 0
        if is_object(dtype) and storage == layout.STORAGE_DATA or flags == layout.FLAG_OPEN:
            (size,) = self.take(1)
        elif not is_object(dtype):
            size = -(-math.prod(shape) * (packed_bits(dtype) if packed else bits) // 8)
        if storage == layout.STORAGE_DATA:
            offset += self.tables_nbytes
        return StoredTensor(dtype, shape, storage, offset, size, packed)

    @staticmethod
    def _nodes(words, kernels, depth=0, first=0):
        nodes, at = [], 0
        while at < len(words):
            kernel, *counts, n_bodies, n_reads = words[at : at + 7]
            if len(counts) != 4 or min(kernel, *counts, n_bodies) < 0 or depth > _MAX_DEPTH:
                raise ValueError("the graph ends inside a node")
            at += 7
            parts = []
            for count in [*counts, n_reads]:
                parts.append(words[at : at + count])
                at += count
            place = first + at - len(parts[-1]) - len(parts[-2])
            nodes.append(StoredNode(kernels[kernel], *parts, depth, place))
            for _ in range(n_bodies):
                size = words[at]
                inner = words[at + 1 : at + 1 + size]
                nodes += _Tables._nodes(inner, kernels, depth + 1, first + at + 1)
                at += 1 + size
        return nodes


def _name(stored):
    """Names of inputs, outputs and steps: the file's, or numbers where it was stripped."""
    ids = stored.inputs + stored.outputs
    names = [f"input_{i}" for i in range(len(stored.inputs))]
    names += [f"output_{i}" for i in range(len(stored.outputs))]
    given = _given(stored, layout.CHUNK_NAMES, names)
    for i, name in reversed(list(zip(ids, given, strict=True))):
        stored.tensors[i].name = name
    steps = [f"step {i}" for i in range(len(stored.nodes))]
    for node, name in zip(stored.nodes, _given(stored, layout.CHUNK_NODES, steps), strict=True):
        node.name = name


def _given(stored, kind, defaults):
    """The names in a chunk of this kind, or the defaults where there is none that fits."""
    for chunk in stored.chunks:
        if chunk.kind == kind:
            names = printable(chunk.data.decode(errors="replace"), keep="\0").split("\0")[:-1]
            if len(names) == len(defaults):
                return names
    return defaults
