"""The bytes of model.bin: docs/format.md in code."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence

import ml_dtypes
import numpy as np

from tools.converter.file.extent_table import Table
from tools.converter.file.weights import ALIGNMENT, Contents, Weights
from tools.converter.ir import Graph, Step, Tensor, packed_bits, walk

from . import repeats
from .objects import string_bytes

MAGIC = b"MPCONNXR"
VERSION = 6
HEADER_NBYTES = 64
DIGEST_AT = 24  # SHA-256 of the tables without it
KIND_MODEL, KIND_TENSORS = 0, 1
CHUNK_DATA, CHUNK_NAMES, CHUNK_GOLDEN, CHUNK_SOURCE, CHUNK_NODES = 0, 1, 2, 3, 4
CHUNK_GRIDS, CHUNK_IMAGES, CHUNK_STREAMED, CHUNK_HALVES, CHUNK_SEAL = 5, 6, 7, 8, 9
STORAGE_ARENA, STORAGE_DATA, STORAGE_OBJECT, STORAGE_STATE = 0, 1, 2, 3
FLAG_PACKED, FLAG_OPEN = 1, 2
FEATURE_FLOAT64, FEATURE_RUNTIME_DIMS, FEATURE_OBJECTS, FEATURE_STATE = 1, 2, 4, 8
FEATURE_REPEATS = 16

CHUNK_ALIGNMENT = 16
_MOST_SHIFT = 28  # of a number's last byte
_DOUBLE = 11


def model_bytes(graph: Graph, arena_nbytes: int, extra: Sequence[tuple[int, bytes]] = ()) -> bytes:
    """A model file. extra: (chunk kind, contents) behind the weights.

    Boards hold the weights in memory unless the graph says which are streamed.
    """
    tensors = graph.tensors()
    weights = graph.weights or held(tensors)
    alike = _alike(tensors, graph)
    tensors = list(dict.fromkeys(alike.values()))
    index = {t: tensors.index(first) for t, first in alike.items()}
    kernels = list(dict.fromkeys(step.kernel for step in walk(graph.steps)))
    return _file(
        KIND_MODEL,
        tensors,
        [index[t] for t in graph.inputs],
        [index[t] for t in graph.outputs],
        arena_nbytes,
        kernels,
        _graph_words(graph.steps, kernels, index, weights.reads),
        weights,
        extra,
    )


def _alike(tensors: Sequence[Tensor], graph: Graph) -> dict[Tensor, Tensor]:
    """For each tensor the first one with its dtype and shape in its place; it needs no record."""
    borders, firsts = {*graph.inputs, *graph.outputs}, {}
    found = {}
    for t in tensors:
        is_view = t.root.data is None and not (t.is_object or t.is_open or t in borders)
        key = (t.dtype, tuple(t.shape), t.offset, t.root.persistent) if is_view else t
        found[t] = firsts.setdefault(key, t)
    return found


def _graph_words(steps: Sequence[Step], kernels: list[str], index, reads) -> list[int]:
    words: list[int] = []
    for step in steps:
        groups = (step.inputs, step.outputs, step.scratch)
        chunks = reads.get(step, [])
        counts = [*(len(g) for g in groups), len(step.params), len(step.bodies), len(chunks)]
        words += [kernels.index(step.kernel), *counts]
        words += [index[t] for g in groups for t in g] + step.params + chunks
        for body in step.bodies:
            inner = _graph_words(body, kernels, index, reads)
            words += [len(inner), *inner]
    return words


def arena_bytes(model: bytes) -> int:
    """Bytes of arena that a model asks for where its weights are streamed; 0 for other bytes."""
    if len(model) < HEADER_NBYTES:
        return 0
    n_chunks, names_nbytes = struct.unpack_from("<2I", model, 56)
    found = numbers_of(model, HEADER_NBYTES + 32 * n_chunks + names_nbytes)
    return max(next(found, 0), next(found, 0))


def tensor_bytes(tensors: Sequence[Tensor]) -> bytes:
    """A tensor file: the same container, with constants as its outputs and no graph."""
    names = names_chunk(t.name for t in tensors)
    ids = list(range(len(tensors)))
    extra = [(CHUNK_NAMES, names)]
    return _file(KIND_TENSORS, tensors, [], ids, 0, [], [], held(tensors), extra)


def number(value: int) -> bytes:
    """A number as 1 to 5 bytes of 7 bits each, the lowest first; its sign is the lowest bit."""
    code = value << 1 if value >= 0 else (-1 - value) << 1 | 1
    found = bytearray()
    while code > 127:
        found.append(code & 127 | 128)
        code >>= 7
    found.append(code)
    return bytes(found)


def numbers(data: bytes) -> Iterator[int]:
    """What `number` wrote, one after another. Raises ValueError for what it did not write."""
    code = shift = 0
    for byte in data:
        if shift > _MOST_SHIFT:
            raise ValueError("a number of more than 5 bytes")
        code |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield -1 - (code >> 1) if code & 1 else code >> 1
            code = shift = 0


def numbers_of(model: bytes, at: int) -> Iterator[int]:
    """Those of a file's tables, which begin at a byte."""
    features, tables_nbytes = struct.unpack_from("<I4xI", model, 12)
    written = model[at:tables_nbytes]
    if features & FEATURE_REPEATS:
        nbytes = next(numbers(written), 0)
        written = repeats.whole(written[len(number(nbytes)) :], nbytes)
    return numbers(written)


def expanded_nbytes(model: bytes) -> int:
    """Bytes of a file's numbers in memory while it is read; 0 if they are read as written."""
    features = struct.unpack_from("<I", model, 12)[0]
    n_chunks, names_nbytes = struct.unpack_from("<2I", model, 56)
    at = HEADER_NBYTES + 32 * n_chunks + names_nbytes
    return next(numbers(model[at:]), 0) if features & FEATURE_REPEATS else 0


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


def contents_of(t: Tensor) -> Contents:
    """A constant as it lies in a file whose weights may be streamed."""
    if t.root.halves:
        return Contents(element_bytes(t.root.data.astype(np.float16)), True)
    return unchanged(t)


def unchanged(t: Tensor) -> Contents:
    """A constant as it lies in a file and in memory."""
    size = 0 if t.is_object else np.asarray(t.root.data).itemsize
    return Contents(raw_bytes(t), alignment=max(size, ALIGNMENT))


def raw_bytes(t: Tensor) -> bytes:
    """A constant as it lies in a file."""
    if t.is_object:
        return string_bytes(t.root.data)
    data = np.ascontiguousarray(t.root.data)
    bits = packed_bits(t.dtype)
    return packed(data, bits) if bits else element_bytes(data)


def held(tensors: Iterable[Tensor]) -> Weights:
    """All constants among these tensors, for memory; equal contents once."""
    weights = Weights()
    for t in tensors:
        if t.root.data is not None:
            weights.add(unchanged(t))
    return weights


def _file(kind, tensors, inputs, outputs, arena_nbytes, kernels, graph_words, weights, extra):
    data = [(_kind_of(c), c) for c in weights.chunks]
    chunks = [(k, bytes(c.data), c.place) for k, c in data] + [(k, c, None) for k, c in extra]
    offsets, body = _body(chunks)
    table = Table()
    spans = [number for t in tensors for number in _record(t, table, weights, offsets)]
    graph_words = table.graph(graph_words)
    words = [arena_nbytes, max(arena_nbytes, weights.streamed_nbytes)]
    for k, contents, place in chunks:
        words += [k, len(contents)] + ([] if place is None else [place])
    words += [len(tensors), *spans, len(inputs), *inputs, len(outputs), *outputs]
    words += table.words() + [len(graph_words), *graph_words]
    names = names_chunk(kernels)
    tables = b"".join(hashlib.sha256(contents).digest() for _, contents, _ in chunks)
    written = b"".join(map(number, words))
    features, short = 0, number(len(written)) + repeats.shortened(written)
    if repeats.pays(written, short, len(tables) + len(written) + len(body)):
        features, written = FEATURE_REPEATS, short
    tables = _padded(tables + names + written, CHUNK_ALIGNMENT)
    features |= FEATURE_FLOAT64 if any(t.dtype == _DOUBLE for t in tensors) else 0
    features |= FEATURE_OBJECTS if any(t.is_object for t in tensors) else 0
    features |= FEATURE_RUNTIME_DIMS if table.n_dims else 0
    features |= FEATURE_STATE if any(t.root.persistent for t in tensors) else 0
    tables_nbytes = HEADER_NBYTES + len(tables)
    lengths = (tables_nbytes + len(body), tables_nbytes)
    head = struct.pack("<8sHHIII", MAGIC, VERSION, kind, features, *lengths)
    rest = struct.pack("<2I", len(chunks), len(names)) + tables
    return head + hashlib.sha256(head + rest).digest() + rest + body


def _kind_of(chunk):
    if chunk.place is None:
        return CHUNK_DATA
    return CHUNK_HALVES if chunk.halves else CHUNK_STREAMED


def _body(chunks):
    """([offset from the end of the tables by chunk], the chunks' bytes, each aligned)."""
    offsets, body = [], bytearray()
    for _, contents, _ in chunks:
        body.extend(bytes(-len(body) % CHUNK_ALIGNMENT))
        offsets.append(len(body))
        body.extend(contents)
    return offsets, bytes(body)


def _record(t, table, weights, offsets):
    """A tensor's numbers: dtype, storage and flags, rank, dims, where it is, perhaps its size."""
    storage, at, flags, size = STORAGE_ARENA, t.offset, 0, []
    if t.root.data is not None:
        contents = contents_of(t)
        if contents not in weights.places:  # where none are streamed
            contents = unchanged(t)
        chunk, within = weights.places[contents]
        storage, at = STORAGE_DATA, offsets[chunk] + within
        flags = FLAG_PACKED if packed_bits(t.dtype) else 0
        size = [t.stored_nbytes] if t.is_object else []
    elif t.is_object:
        storage = STORAGE_OBJECT
    elif t.is_open:
        flags, size = FLAG_OPEN, [t.planned_nbytes]
    elif t.root.persistent:
        storage = STORAGE_STATE
    return [t.dtype, storage | flags << 2, len(t.shape), *table.dims(t.shape), at, *size]
