"""Write a graph as the bytes of model.bin (docs/format.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import onnx

from tools.format import layout
from tools.format.dtypes import packed_bits
from tools.format.objects import string_bytes

from ..ir import Graph, Step, Tensor, walk
from ..shapes import extent, extent_forms
from .weights import ALIGNMENT, Contents, Large, Weights

_DOUBLE = 11
_LARGE = 64 << 10  # bytes from which on a constant is not copied before it is written
# Hidden state: the Large of each large constant, so that its digest is computed once.
_large: WeakKeyDictionary[Tensor, tuple[np.ndarray, Large]] = WeakKeyDictionary()


def model_bytes(graph: Graph, arena_nbytes: int, extra: Sequence[tuple[int, bytes]] = ()) -> bytes:
    """Return a model file.

    Boards keep the weights in memory unless the graph says which are streamed.

    Args:
        graph: the graph, with offsets.
        arena_nbytes: size of the arena.
        extra: (chunk kind, contents) to put behind the weights.
    """
    tensors = graph.tensors()
    weights = graph.weights or held(tensors)
    alike = _alike(tensors, graph)
    tensors = list(dict.fromkeys(alike.values()))
    index = {t: tensors.index(first) for t, first in alike.items()}
    kernels = list(dict.fromkeys(step.kernel for step in walk(graph.steps)))
    return _file(
        layout.KIND_MODEL,
        tensors,
        [index[t] for t in graph.inputs],
        [index[t] for t in graph.outputs],
        arena_nbytes,
        kernels,
        _graph_words(graph.steps, kernels, index, graph.reads),
        weights,
        extra,
    )


def _alike(tensors: Sequence[Tensor], graph: Graph) -> dict[Tensor, Tensor]:
    """Map tensors to the first one with equal dtype, shape and offset, to share a record."""
    ends, firsts = {*graph.inputs, *graph.outputs}, {}
    firsts_by_tensor = {}
    for t in tensors:
        is_view = t.root.data is None and not (t.is_object or t.is_open or t in ends)
        key = (t.dtype, tuple(t.shape), t.offset, t.root.persistent) if is_view else t
        firsts_by_tensor[t] = firsts.setdefault(key, t)
    return firsts_by_tensor


def _graph_words(steps: Sequence[Step], kernels: list[str], index, reads) -> list[int]:
    """Return the numbers of steps and their bodies in the file.

    Args:
        steps: the steps.
        kernels: names of all kernels, in the file's order.
        index: number of each tensor.
        reads: chunks to read before a step.
    """
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


def tensor_bytes(tensors: Sequence[Tensor]) -> bytes:
    """Return a file of tensors: a model file with constants as outputs, and no steps."""
    names = layout.names_chunk(t.name for t in tensors)
    ids = list(range(len(tensors)))
    extra = [(layout.CHUNK_NAMES, names)]
    return _file(layout.KIND_TENSORS, tensors, [], ids, 0, [], [], held(tensors), extra)


def contents_of(t: Tensor) -> Contents:
    """Return the Contents of a constant in a file whose weights may be streamed."""
    if t.root.halves:
        return Contents(layout.element_bytes(t.root.data.astype(np.float16)), True)
    return unchanged(t)


def unchanged(t: Tensor) -> Contents:
    """Return the Contents of a constant that has the same bytes in the file and in memory."""
    size = 0 if t.is_object else np.asarray(t.root.data).itemsize
    return Contents(_raw(t), alignment=max(size, ALIGNMENT))


def _raw(t: Tensor) -> bytes | Large:
    """Return the bytes of a constant in the file; packed if its elements have less than a byte."""
    if t.is_object:
        return string_bytes(t.root.data)
    data = t.root.data
    bits = packed_bits(t.dtype)
    if bits or data.nbytes < _LARGE:
        data = np.ascontiguousarray(data)
        return layout.packed(data, bits) if bits else layout.element_bytes(data)
    known, large = _large.get(t.root, (None, None))
    if known is not data:
        large = Large(layout.element_view(data))
        _large[t.root] = data, large
    return large


def held(tensors: Iterable[Tensor]) -> Weights:
    """Return the Weights of all constants among tensors, for a board that holds them in memory."""
    weights = Weights()
    for t in tensors:
        if t.root.data is not None:
            weights.add(unchanged(t))
    return weights


def _file(kind, tensors, inputs, outputs, arena_nbytes, kernels, graph_words, weights, extra):
    data = [(_kind_of(c), c) for c in weights.chunks]
    chunks = [(k, c.parts, c.place) for k, c in data] + [(k, [c], None) for k, c in extra]
    offsets, body = _body(chunks)
    table = _ExtentTable()
    spans = [number for t in tensors for number in _record(t, table, weights, offsets)]
    graph_words = table.graph(graph_words)
    words = [arena_nbytes, max(arena_nbytes, weights.streamed_nbytes)]
    for k, contents, place in chunks:
        words += [k, sum(map(len, contents))] + ([] if place is None else [place])
    words += [len(tensors), *spans, len(inputs), *inputs, len(outputs), *outputs]
    words += table.words() + [len(graph_words), *graph_words]
    names = layout.names_chunk(kernels)
    features = layout.FEATURE_FLOAT64 if any(t.dtype == _DOUBLE for t in tensors) else 0
    features |= layout.FEATURE_OBJECTS if any(t.is_object for t in tensors) else 0
    features |= layout.FEATURE_RUNTIME_DIMS if table.n_dims else 0
    features |= layout.FEATURE_STATE if any(t.root.persistent for t in tensors) else 0
    digests = [_digest(contents) for _, contents, _ in chunks]
    numbers = b"".join(map(layout.number, words))
    return layout.file_bytes(kind, features, digests, names, numbers, body)


def _kind_of(chunk):
    if chunk.place is None:
        return layout.CHUNK_DATA
    return layout.CHUNK_HALVES if chunk.halves else layout.CHUNK_STREAMED


def _body(chunks):
    """Return the offset of each chunk behind the tables, and all chunks in pieces."""
    offsets, body, end = [], [], 0
    for _, contents, _ in chunks:
        padding = bytes(-end % layout.CHUNK_ALIGNMENT)
        offsets.append(end + len(padding))
        body += [padding, *contents]
        end = offsets[-1] + sum(map(len, contents))
    return offsets, body


def _digest(parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _record(t, table, weights, offsets):
    """Return the numbers of a tensor in the file: dtype, storage and flags, rank, dims, offset.

    A size may follow.

    Args:
        t: the tensor.
        table: collects the Extents among its dims.
        weights: the chunks of all constants.
        offsets: offset of each chunk in the file.
    """
    storage, at, flags, size = layout.STORAGE_ARENA, t.offset, 0, []
    if t.root.data is not None:
        contents = contents_of(t)
        if contents not in weights.places:  # if no weights are streamed
            contents = unchanged(t)
        chunk, within = weights.places[contents]
        storage, at = layout.STORAGE_DATA, offsets[chunk] + within
        flags = layout.FLAG_PACKED if packed_bits(t.dtype) else 0
        size = [t.stored_nbytes] if t.is_object else []
    elif t.is_object:
        storage = layout.STORAGE_OBJECT
    elif t.is_open:
        flags, size = layout.FLAG_OPEN, [t.planned_nbytes]
    elif t.root.persistent:
        storage = layout.STORAGE_STATE
    return [t.dtype, storage | flags << 2, len(t.shape), *table.dims(t.shape), at, *size]


class _ExtentTable:
    """The section of a model file with run-time dims, for shapes and parameters.

    The writer passes all shapes and words through `dims` and `graph`; then `words` returns the
    section.
    """

    def __init__(self):
        self._dims: dict[tuple[str, int], int] = {}
        self._expressions: dict[tuple[int, ...], int] = {}
        self._uses: list[tuple[int, int]] = []

    @property
    def n_dims(self) -> int:
        """Return the number of run-time dims."""
        return len(self._dims)

    def _number(self, key):
        return self._dims.setdefault(key, len(self._dims))

    def _expression(self, value):
        words = tuple(extent_forms.postfix(value, self._number))
        return self._expressions.setdefault(words, len(self._expressions))

    def dims(self, shape: Iterable[int]) -> list[int]:
        """Return a shape's words, with -1 - e for the value of expression e."""
        return [-1 - self._expression(d) if extent.is_open(d) else int(d) for d in shape]

    def graph(self, words: Iterable[int]) -> list[int]:
        """Return the graph's words as plain numbers; note which of them are expressions."""
        plain = []
        for at, word in enumerate(words):
            if isinstance(word, extent.DimNumber):
                plain.append(self._number(word.key))
            elif extent.is_open(word):
                self._uses.append((at, self._expression(word)))
                plain.append(0)
            else:
                plain.append(int(word))
        return plain

    def words(self) -> list[int]:
        """Return the section: number of words, the words, number of dims; nothing without dims.

        The words are the bounds of the dims; the number of expressions, and each with its length
        before it; then (index in the graph's words, expression) pairs.
        """
        if not self._dims:
            return []
        words = [bound for _, bound in self._dims] + [len(self._expressions)]
        for expression in self._expressions:
            words += [len(expression), *expression]
        words += [word for use in self._uses for word in use]
        return [len(words), *words, len(self._dims)]


def source_chunk(origin: Path | onnx.ModelProto, model: onnx.ModelProto) -> bytes:
    """Return the source chunk: a JSON object in UTF-8 with sorted keys, without unknown values.

    It names no person, machine or folder unless the model itself does.

    Args:
        origin: the .onnx, whose sha256 is included (not that of external data), or a model in
            memory, which has none.
        model: the model as it was loaded.
    """
    about = {
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "graph": model.graph.name,
        "ir_version": model.ir_version,
        "opset": {o.domain or "ai.onnx": o.version for o in model.opset_import},
    }
    if isinstance(origin, Path):
        with origin.open("rb") as file:
            about["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    known = {key: value for key, value in about.items() if value}
    return json.dumps(known, sort_keys=True, ensure_ascii=False).encode()
