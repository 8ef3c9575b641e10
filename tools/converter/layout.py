"""The bytes of model.bin: docs/format.md in code."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence

import ml_dtypes
import numpy as np

from .extent_table import Table
from .ir import Graph, Step, Tensor, packed_bits, walk
from .objects import string_bytes

MAGIC = b"MPCONNXR"
VERSION = 1
HEADER_NBYTES = 96
KIND_MODEL, KIND_TENSORS = 0, 1
CHUNK_DATA, CHUNK_NAMES, CHUNK_GOLDEN, CHUNK_SOURCE, CHUNK_NODES = 0, 1, 2, 3, 4
CHUNK_GRIDS, CHUNK_IMAGES = 5, 6
STORAGE_ARENA, STORAGE_DATA, STORAGE_OBJECT, STORAGE_STATE = 0, 1, 2, 3
FLAG_PACKED, FLAG_OPEN = 1, 2
FEATURE_FLOAT64, FEATURE_RUNTIME_DIMS, FEATURE_OBJECTS, FEATURE_STATE = 1, 2, 4, 8

_ALIGNMENT = 16
# A chunk is the unit that a board reads and verifies in one piece. Small tensors share one.
_CHUNK_NBYTES = 8192
_DOUBLE = 11


def model_bytes(graph: Graph, arena_nbytes: int, extra: Sequence[tuple[int, bytes]] = ()) -> bytes:
    """A model file. extra: (chunk kind, contents) behind the weights."""
    tensors = graph.tensors()
    index = {t: i for i, t in enumerate(tensors)}
    kernels = list(dict.fromkeys(step.kernel for step in walk(graph.steps)))
    words = _graph_words(graph.steps, kernels, index)
    return _file(
        KIND_MODEL,
        tensors,
        [index[t] for t in graph.inputs],
        [index[t] for t in graph.outputs],
        arena_nbytes,
        _padded(b"".join(k.encode() + b"\0" for k in kernels), 4),
        words,
        extra,
    )


def _graph_words(steps: Sequence[Step], kernels: list[str], index: dict[Tensor, int]) -> list[int]:
    words: list[int] = []
    for step in steps:
        groups = (step.inputs, step.outputs, step.scratch)
        counts = [*(len(g) for g in groups), len(step.params), len(step.bodies)]
        words += [kernels.index(step.kernel), *counts]
        words += [index[t] for g in groups for t in g] + step.params
        for body in step.bodies:
            inner = _graph_words(body, kernels, index)
            words += [len(inner), *inner]
    return words


def arena_bytes(model: bytes) -> int:
    """Bytes of arena that a model file asks for."""
    return int.from_bytes(model[56:60], "little")


def tensor_bytes(tensors: Sequence[Tensor]) -> bytes:
    """A tensor file: the same container, with constants as its outputs and no graph."""
    names = names_chunk(t.name for t in tensors)
    ids = list(range(len(tensors)))
    return _file(KIND_TENSORS, tensors, [], ids, 0, b"", [], [(CHUNK_NAMES, names)])


def names_chunk(names: Iterable[str]) -> bytes:
    """Contents of a chunk of names: each ends with a zero byte."""
    return b"".join(n.replace("\0", "").encode() + b"\0" for n in names)


def _padded(data: bytes, alignment: int) -> bytes:
    return data + bytes(-len(data) % alignment)


def packed(data: np.ndarray, bits: int) -> bytes:
    """Elements of one byte each, put together `bits` at a time from the low end of each byte."""
    per = 8 // bits
    codes = data.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    codes = np.append(codes, np.zeros(-len(codes) % per, np.uint8)).reshape(-1, per)
    return np.bitwise_or.reduce(codes << (np.arange(per, dtype=np.uint8) * bits), 1).tobytes()


def unpacked(raw: bytes, dtype: np.dtype, bits: int, nelem: int) -> np.ndarray:
    """What `packed` put together."""
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    codes = (np.frombuffer(raw, np.uint8)[:, None] >> shifts) & ((1 << bits) - 1)
    return codes.reshape(-1)[:nelem].view(dtype)


def element_bytes(array: np.ndarray) -> bytes:
    """The elements in C order as a board holds them in its memory."""
    array = np.ascontiguousarray(array)
    if array.dtype in (ml_dtypes.int4, ml_dtypes.int2):
        array = array.astype(np.int8)  # the sign fills its byte, which numpy leaves open
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def _raw(t: Tensor) -> bytes:
    if t.is_object:
        return string_bytes(t.root.data)
    data = np.ascontiguousarray(t.root.data)
    bits = packed_bits(t.dtype)
    return packed(data, bits) if bits else element_bytes(data)


def _chunks(tensors):
    """([chunk bytes], {Tensor: (chunk index, offset in it)}): equal contents stored once."""
    chunks: list[bytearray] = []
    places: dict[Tensor, tuple[int, int]] = {}
    stored: dict[bytes, tuple[int, int]] = {}
    for t in tensors:
        if t.root.data is None:
            continue
        raw = _raw(t)
        if raw not in stored:
            if not chunks or len(chunks[-1]) + len(raw) > _CHUNK_NBYTES:
                chunks.append(bytearray())
            chunks[-1].extend(bytes(-len(chunks[-1]) % _ALIGNMENT))
            stored[raw] = (len(chunks) - 1, len(chunks[-1]))
            chunks[-1].extend(raw)
        places[t] = stored[raw]
    return [bytes(c) for c in chunks], places


def _file(kind, tensors, inputs, outputs, arena_nbytes, kernel_names, graph_words, extra):
    data, places = _chunks(tensors)
    chunks = [(CHUNK_DATA, c) for c in data] + list(extra)
    table = Table()
    dims = table.dims(d for t in tensors for d in t.shape)
    graph_words = table.graph(graph_words)
    runtime = table.words()
    counts = [len(chunks), len(tensors), len(dims), len(inputs), len(outputs)]
    counts += [len(kernel_names), len(graph_words)]
    n_words = 11 * len(chunks) + 3 * len(tensors) + len(dims) + len(inputs) + len(outputs)
    end = HEADER_NBYTES + 4 * n_words + len(kernel_names) + 4 * (len(graph_words) + len(runtime))
    tables_nbytes = end + -end % _ALIGNMENT
    offsets, body = _body(chunks, tables_nbytes)
    tables = b"".join(
        struct.pack("<3I", k, at, len(c)) + hashlib.sha256(c).digest()
        for (k, c), at in zip(chunks, offsets, strict=True)
    )
    tables += _tensor_tables(tensors, places, offsets) + _int32(dims)
    tables += _int32([*inputs, *outputs]) + kernel_names + _int32(graph_words) + _int32(runtime)
    features = FEATURE_FLOAT64 if any(t.dtype == _DOUBLE for t in tensors) else 0
    features |= FEATURE_OBJECTS if any(t.is_object for t in tensors) else 0
    features |= FEATURE_RUNTIME_DIMS if runtime else 0
    features |= FEATURE_STATE if any(t.root.persistent for t in tensors) else 0
    lengths = (tables_nbytes + len(body), tables_nbytes)
    head = struct.pack("<8sHHIII", MAGIC, VERSION, kind, features, *lengths)
    rest = struct.pack("<10I", arena_nbytes, *counts, table.n_dims, len(runtime))
    rest += _padded(tables, _ALIGNMENT)
    return head + hashlib.sha256(head + rest).digest() + rest + body


def _body(chunks, start):
    """([offset in the file by chunk], the chunks' bytes one after another, aligned)."""
    offsets, body = [], bytearray()
    for _, contents in chunks:
        body.extend(bytes(-len(body) % _ALIGNMENT))
        offsets.append(start + len(body))
        body.extend(contents)
    return offsets, bytes(body)


def _tensor_tables(tensors, places, chunk_offsets):
    """The offset table {offset, size}, then a record a tensor: dtype, rank, storage, flags."""
    spans, records = b"", b""
    for t in tensors:
        storage, at, nbytes, flags = STORAGE_ARENA, t.offset, t.planned_nbytes, 0
        if t.is_object:
            storage, nbytes = STORAGE_OBJECT, 0
        elif t.is_open:
            flags = FLAG_OPEN
        if t.root.persistent:
            storage = STORAGE_STATE
        if t in places:
            chunk, within = places[t]
            storage, at, nbytes = STORAGE_DATA, chunk_offsets[chunk] + within, t.stored_nbytes
            flags = FLAG_PACKED if packed_bits(t.dtype) else 0
        spans += struct.pack("<2I", at, nbytes)
        records += struct.pack("<4B", t.dtype, len(t.shape), storage, flags)
    return spans + records


def _int32(values):
    return struct.pack(f"<{len(values)}i", *values)
