"""Reads a .bin on the host: models, as far as tools look into them, and tensor files."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass

import numpy as np
from onnx import helper

from tools.errors import ConvertError
from tools.limits import printable

from . import layout, stored_extents, tables
from .dtypes import itemsize, packed_bits
from .objects import STRING, is_object, string_array, strings_from

_MAX_DEPTH = 8  # of bodies in bodies


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
        """The offset behind it."""
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
        """numpy's dtype, object for strings and maps."""
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
        stored = _stored(data)
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


def _stored(data):
    head = tables.Head.of(data)
    if head.nbytes != len(data):
        raise ValueError(f"{len(data)} bytes long, should be {head.nbytes}")
    kernels = [printable(name) for name in head.kernels(data)]
    words = tables.Words(layout.numbers_of(data, head.numbers_at))
    arena_nbytes, streamed_nbytes = words.take(2)
    chunks = [_chunk(data, head, *entry) for entry in enumerate(tables.chunks(words, head))]
    tensors = [_tensor(tables.TensorEntry.of(words), head) for _ in range(words.next())]
    inputs, outputs = words.list(), words.list()
    extents = stored_extents.StoredExtents()
    if head.features & layout.FEATURE_RUNTIME_DIMS:
        extents = stored_extents.read(words.list(), words.next())
    nodes = list(_nodes(words.list(), kernels))
    for t in tensors:
        in_slot = t.storage == layout.STORAGE_OBJECT
        dims = ("?" if in_slot and d < 0 else extents.dim(d) for d in t.shape)
        t.dims_text = ", ".join(dims)
    for i in sum((n.inputs + n.outputs + n.scratch for n in nodes), inputs + outputs):
        if not 0 <= i < len(tensors):
            raise ValueError(f"tensor id {i}")
    start = data[: head.tables_nbytes]
    intact = hashlib.sha256(start[:24] + start[56:]).digest() == start[24:56]
    stored = Stored(
        *(head.kind, head.version, head.features, intact, arena_nbytes, streamed_nbytes),
        *(chunks, tensors, inputs, outputs, nodes, extents),
        *(head.tables_nbytes, len(words.rest())),
    )
    _name(stored)
    return stored


def _chunk(data, head, i, entry):
    contents = data[entry.start : entry.end]
    if len(contents) != entry.end - entry.start:
        raise ValueError("a chunk lies outside the file")
    digest_at = layout.HEADER_NBYTES + tables.DIGEST_NBYTES * i
    # of a seal, which signs the tables, they hold no digest
    is_seal = entry.kind == layout.CHUNK_SEAL and i == head.n_chunks - 1
    right = bytes(32) if is_seal else hashlib.sha256(contents).digest()
    intact = right == data[digest_at : digest_at + 32]
    return Chunk(entry.kind, entry.start, contents, intact, entry.place)


def _tensor(entry, head):
    dtype, storage, flags, shape, offset, size = entry
    packed = flags == layout.FLAG_PACKED and packed_bits(dtype) > 0
    bits = 8 * itemsize(dtype)  # KeyError for a dtype that is none
    if size is None and is_object(dtype):
        size = 0
    elif size is None:
        size = -(-math.prod(shape) * (packed_bits(dtype) if packed else bits) // 8)
    if storage == layout.STORAGE_DATA:
        offset += head.tables_nbytes
    return StoredTensor(dtype, shape, storage, offset, size, packed)


def _nodes(graph, kernels, depth=0, first=0):
    """The steps of a graph, each before those of its bodies."""
    if depth > _MAX_DEPTH and graph:
        raise ValueError("the graph ends inside a node")
    for entry in tables.nodes(graph, first):
        yield StoredNode(kernels[entry.kernel], *entry.groups, depth, entry.place)
        for body, start in entry.bodies:
            yield from _nodes(body, kernels, depth + 1, start)


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
