"""Reads a .bin on the host: what `python -m tools.converter inspect` prints, and tensor files."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import helper

from . import inspect_extents, layout
from .errors import ConvertError
from .ir import dtype_name, packed_bits
from .objects import STRING, is_object, string_array, strings_from

_MAX_DEPTH = 8  # of bodies in bodies
_CHUNK_KINDS = ("data", "names", "golden", "source", "nodes", "grids", "images")
_PLACES = ("arena", "file", "slot", "state")  # by storage class
_CHUNK_NBYTES = 44  # of its record in the tables


@dataclass
class Chunk:
    """kind: CHUNK_... of layout; intact: its digest is right."""

    kind: int
    offset: int
    data: bytes
    intact: bool


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

    place: word of the graph at which the parameters start.
    """

    kernel: str
    inputs: list[int]
    outputs: list[int]
    scratch: list[int]
    params: list[int]
    depth: int = 0
    place: int = 0
    name: str = ""


@dataclass
class Stored:
    """The contents of a .bin; inputs, outputs: tensor ids; intact: the tables' digest is right."""

    kind: int
    version: int
    features: int
    intact: bool
    arena_nbytes: int
    chunks: list[Chunk]
    tensors: list[StoredTensor]
    inputs: list[int]
    outputs: list[int]
    nodes: list[StoredNode]
    extents: inspect_extents.StoredExtents


def read(data: bytes) -> Stored:
    """Parses a model or tensor file. Raises ConvertError."""
    if data[:8] != layout.MAGIC:
        raise ConvertError("not a converted model: it does not start with MPCONNXR")
    try:
        stored = _Tables(data).read()
    except (struct.error, IndexError, ValueError, KeyError) as e:
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
        self.at = layout.HEADER_NBYTES

    def words(self, n, form="i"):
        values = struct.unpack_from(f"<{n}{form}", self.data, self.at)
        self.at += 4 * n
        return list(values)

    def read(self) -> Stored:
        _, version, kind, features, nbytes, tables_nbytes = struct.unpack_from(
            "<8sHHIII", self.data
        )
        if nbytes != len(self.data):
            raise ValueError(f"{len(self.data)} bytes long, should be {nbytes}")
        tables = self.data[:tables_nbytes]
        digest = hashlib.sha256(tables[:24] + tables[56:]).digest()
        arena_nbytes, *counts, n_extents, n_words = struct.unpack_from("<10I", self.data, 56)
        n_chunks, n_tensors, n_dims, n_inputs, n_outputs, names_nbytes, graph_words = counts
        chunks = [self._chunk() for _ in range(n_chunks)]
        tensors = self._tensors(n_tensors, n_dims)
        inputs, outputs = self.words(n_inputs), self.words(n_outputs)
        kernels = self.data[self.at : self.at + names_nbytes].rstrip(b"\0").decode().split("\0")
        self.at += names_nbytes
        nodes = self._nodes(self.words(graph_words), kernels)
        extents = inspect_extents.StoredExtents()
        if features & layout.FEATURE_RUNTIME_DIMS:
            extents = inspect_extents.read(self.words(n_words), n_extents)
        for t in tensors:
            in_slot = t.storage == layout.STORAGE_OBJECT
            dims = ("?" if in_slot and d < 0 else extents.dim(d) for d in t.shape)
            t.dims_text = ", ".join(dims)
        for i in sum((n.inputs + n.outputs + n.scratch for n in nodes), inputs + outputs):
            if not 0 <= i < n_tensors:
                raise ValueError(f"tensor id {i}")
        intact = digest == tables[24:56]
        stored = Stored(
            *(kind, version, features, intact, arena_nbytes),
            *(chunks, tensors, inputs, outputs, nodes, extents),
        )
        _name(stored)
        return stored

    def _chunk(self):
        kind, offset, nbytes = struct.unpack_from("<3I", self.data, self.at)
        digest = self.data[self.at + 12 : self.at + _CHUNK_NBYTES]
        self.at += _CHUNK_NBYTES
        contents = self.data[offset : offset + nbytes]
        if len(contents) != nbytes:
            raise ValueError("a chunk lies outside the file")
        return Chunk(kind, offset, contents, hashlib.sha256(contents).digest() == digest)

    def _tensors(self, n, n_dims):
        spans = [self.words(2, "I") for _ in range(n)]
        records = [self.data[self.at + 4 * i : self.at + 4 * i + 4] for i in range(n)]
        self.at += 4 * n
        dims = self.words(n_dims)
        tensors = []
        for (offset, nbytes), (dtype, rank, storage, flags) in zip(spans, records, strict=True):
            shape, dims = tuple(dims[:rank]), dims[rank:]
            _PLACES[storage]  # IndexError for what is none
            if not is_object(dtype):
                helper.tensor_dtype_to_np_dtype(dtype)  # KeyError for what is none
            packed = flags == layout.FLAG_PACKED and packed_bits(dtype) > 0
            tensors.append(StoredTensor(dtype, shape, storage, offset, nbytes, packed))
        return tensors

    @staticmethod
    def _nodes(words, kernels, depth=0, first=0):
        nodes, at = [], 0
        while at < len(words):
            kernel, *counts, n_bodies = words[at : at + 6]
            if len(counts) != 4 or min(kernel, *counts, n_bodies) < 0 or depth > _MAX_DEPTH:
                raise ValueError("the graph ends inside a node")
            at += 6
            parts = []
            for count in counts:
                parts.append(words[at : at + count])
                at += count
            place = first + at - len(parts[-1])
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
            names = chunk.data.decode(errors="replace").split("\0")[:-1]
            if len(names) == len(defaults):
                return names
    return defaults


def print_file(path: Path) -> None:
    """Prints header, chunks, tensors, nodes and the plan of the arena. Raises ConvertError."""
    stored = read(path.read_bytes())
    kind = "model" if stored.kind == layout.KIND_MODEL else "tensors"
    print(f"{kind}, format {stored.version}, features {stored.features:#x}")
    print(
        f"tables {'intact' if stored.intact else 'DAMAGED'}, arena {stored.arena_nbytes:,} bytes"
    )
    print("chunks")
    for chunk in stored.chunks:
        kind = dict(enumerate(_CHUNK_KINDS)).get(chunk.kind, str(chunk.kind))
        state = "intact" if chunk.intact else "DAMAGED"
        print(f"  {kind:8} at {chunk.offset:8}  {len(chunk.data):8} bytes  {state}")
    print("tensors")
    for i, t in enumerate(stored.tensors):
        place = _PLACES[t.storage]
        about = f"{dtype_name(t.dtype)} [{t.dims_text}]"
        print(f"  {i:4} {about:28} {place:5} {t.offset:8}  {t.nbytes:8} bytes  {t.name}".rstrip())
    print(f"inputs   {stored.inputs}\noutputs  {stored.outputs}")
    for i, bound in enumerate(stored.extents.bounds):
        print(f"run-time dim d{i}, at most {bound}")
    if stored.nodes:
        print("nodes")
    for i, node in enumerate(stored.nodes):
        scratch = f" scratch {node.scratch}" if node.scratch else ""
        kernel = "  " * node.depth + node.kernel
        print(f"  {i:4} {kernel:12} {node.inputs} -> {node.outputs}{scratch}  {node.name}")
        print(f"       params [{', '.join(_params(node, stored.extents))}]")
    _print_plan(stored)


def _params(node, extents):
    for i, value in enumerate(node.params):
        e = extents.places.get(node.place + i)
        yield str(value) if e is None else extents.expressions[e]


def _print_plan(stored):
    """Each piece of the arena with the steps between which it holds a value."""
    spans: dict[tuple[int, int], list[int]] = {}

    def use(i, step):
        t = stored.tensors[i]
        if t.storage == layout.STORAGE_ARENA:
            span = spans.setdefault((t.offset, t.offset + t.nbytes), [step, step])
            span[1] = step

    for i in stored.inputs:
        use(i, -1)
    for step, node in enumerate(stored.nodes):
        for i in node.inputs + node.outputs + node.scratch:
            use(i, step)
    for i in stored.outputs:
        use(i, len(stored.nodes))
    if spans:
        print("arena: bytes, steps (-1: an input; the last: an output)")
    for (start, end), (first, last) in sorted(spans.items()):
        print(f"  {start:8} to {end:8}  steps {first} to {last}")
