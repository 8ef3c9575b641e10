"""Models and tensor files as the host's tools look into them.

The device's reader parses and proves them. Here its findings get the names that people gave, and
the state of their digests, which is told instead of refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from onnx import helper

from mpconnxr.build import grids
from mpconnxr.build.reader import Reader
from mpconnxr.dynamic import runtime
from mpconnxr.errors import ModelError, MpconnxrError, UnsupportedError, fail
from tools.errors import ConvertError
from tools.limits import printable

from . import layout
from .objects import is_object

_JOIN = {
    runtime.ADD: "({} + {})",
    runtime.MULTIPLY: "{} * {}",
    runtime.DIVIDE: "({} // {})",
    runtime.MAXIMUM: "max({}, {})",
    runtime.MINIMUM: "min({}, {})",
}


@dataclass
class Chunk:
    """kind: CHUNK_... of layout; intact: its digest is right; place: in the arena, if streamed."""

    kind: int
    offset: int
    data: bytes
    intact: bool
    place: int | None = None


@dataclass
class StoredTensor:
    """storage: STORAGE_... of layout; offset: from the start of the arena, the file or the state,
    or an object's slot.

    packed: several elements lie in a byte; nbytes: as they lie; dims_text: the shape, with
    expressions where a run decides it; scale, zero_point: of an input or output that has a grid.
    """

    dtype: int
    shape: tuple[int, ...]
    storage: int
    offset: int
    nbytes: int
    packed: bool
    name: str = ""
    dims_text: str = ""
    scale: float | None = None
    zero_point: int = 0

    @property
    def np_dtype(self) -> np.dtype:
        """numpy's dtype, object for strings and maps."""
        if is_object(self.dtype):
            return np.dtype(object)
        return helper.tensor_dtype_to_np_dtype(self.dtype)


@dataclass
class StoredNode:
    """One step: tensor ids and parameters. depth: 1 in the body of another step, and so on.

    reads: chunks that are read before it; place: word of the graph at which the parameters start;
    bodies: the steps of each.
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
    bodies: list[list[StoredNode]] = field(default_factory=list)


@dataclass
class StoredExtents:
    """bounds: by dim; expressions: texts; places: expression by word of the graph."""

    bounds: list[int] = field(default_factory=list)
    expressions: list[str] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)

    def dim(self, d: int) -> str:
        """Return an entry of a shape as text. Raises ModelError."""
        if -1 - d >= len(self.expressions):
            fail("number of an expression")
        return str(d) if d >= 0 else self.expressions[-1 - d]


@dataclass
class Stored:
    """The contents of a .bin; inputs, outputs: tensor ids; intact: the tables' digest is right;
    nodes: each step before those of its bodies.
    """

    kind: int
    version: int
    features: int
    intact: bool
    arena_nbytes: int
    streamed_nbytes: int
    state_nbytes: int
    tables_nbytes: int
    chunks: list[Chunk]
    tensors: list[StoredTensor]
    inputs: list[int]
    outputs: list[int]
    nodes: list[StoredNode]
    extents: StoredExtents

    def chunk(self, kind: int) -> Chunk | None:
        """Return the first chunk of a kind, None if there is none."""
        return next((c for c in self.chunks if c.kind == kind), None)


class Parsed(Reader):
    """What the device's reader finds in a file of any kind, but for the contents of chunks.

    version, kind, features: of the header; numbers_at, numbers_end: where the tables' numbers
    begin and end; runtime: the run-time dims, None without any; steps: those outside of bodies.
    Raises ModelError, UnsupportedError.
    """

    def __init__(self, data: bytes):
        super().__init__(data, verify=False)
        dims = self.runtime_dims()
        self.runtime = runtime.Runtime(*dims) if dims else None
        self.steps = self._steps()

    def _check_head(self, head, kind):
        _, self.version, self.kind, self.features, *_ = head
        super()._check_head(head, self.kind)

    def _read_numbers(self, numbers, features, n_chunks):
        self.numbers_at = numbers.at
        super()._read_numbers(numbers, features, n_chunks)
        self.numbers_end = numbers.at

    def _fetch_chunks(self, verify):
        pass  # reader.read tells whose digest is wrong; widening would take minutes here

    def _steps(self, body=None, depth=0):
        return [
            StoredNode(
                *(kernel, inputs, outputs, scratch, list(params), reads, depth, place),
                bodies=[self._steps(inner, depth + 1) for inner in bodies],
            )
            for kernel, inputs, outputs, scratch, params, bodies, place, reads in self.nodes(body)
        ]

    @property
    def is_intact(self) -> bool:
        """Whether the tables' digest is right."""
        try:
            self._check_digest()
        except ModelError:
            return False
        return True


def parse(data: bytes) -> Parsed:
    """Parse a model or tensor file. Raises ConvertError."""
    if data[:8] != layout.MAGIC:
        raise ConvertError("not a converted model: it does not start with MPCONNXR")
    try:
        return Parsed(data)
    except MpconnxrError as e:
        raise _refusal(e) from None


def read(data: bytes) -> Stored:
    """Parse a model or tensor file, and look into its chunks. Raises ConvertError."""
    file = parse(data)
    extents = _extents(file.runtime)
    chunks = [_chunk(data, c, c is file.chunks[-1]) for c in file.chunks]
    try:
        tensors = [_tensor(info, extents) for info in file.tensors]
        _attach_grids(tensors, file.inputs + file.outputs, chunks)
    except ModelError as e:
        raise _refusal(e) from None
    stored = Stored(
        *(file.kind, file.version, file.features, file.is_intact),
        *(file.arena_nbytes, file.streamed_nbytes, file.state_nbytes, file.tables_nbytes),
        *(chunks, tensors, file.inputs, file.outputs, list(_walk(file.steps)), extents),
    )
    _name(stored)
    return stored


def arena_bytes(data: bytes) -> int:
    """Return the arena's bytes of a model whose weights are streamed; 0 for other bytes."""
    try:
        return parse(data).streamed_nbytes
    except ConvertError:
        return 0


def _refusal(e):
    is_told = isinstance(e, UnsupportedError)  # it says itself what to do
    return ConvertError(str(e) if is_told else f"{e}: convert the model again")


def _walk(steps):
    """Yield steps, each before those of its bodies."""
    for step in steps:
        yield step
        for body in step.bodies:
            yield from _walk(body)


def _chunk(data, c, is_last):
    contents = data[c.offset : c.offset + c.nbytes]
    # of a seal, which signs the tables, they hold no digest
    is_seal = c.kind == layout.CHUNK_SEAL and is_last
    digest = bytes(layout.DIGEST_NBYTES) if is_seal else hashlib.sha256(contents).digest()
    return Chunk(c.kind, c.offset, contents, digest == c.digest(data), c.place)


def _tensor(info, extents):
    dims = map(extents.dim if info.is_open else _dim, info.shape)
    nbytes = info.stored_nbytes if info.packed or is_object(info.dtype) else info.nbytes
    place = info.storage, info.offset, nbytes, bool(info.packed)
    return StoredTensor(info.dtype, info.shape, *place, dims_text=", ".join(dims))


def _attach_grids(tensors, ids, chunks):
    for c in chunks:
        if c.kind == layout.CHUNK_GRIDS:
            grids.attach([tensors[i] for i in ids], c.data)
            break


def _dim(d):
    return str(d) if d >= 0 else "?"


def _extents(runtime):
    if runtime is None:
        return StoredExtents()
    texts = [_text(expression) for expression in runtime.expressions]
    return StoredExtents(runtime.bounds, texts, runtime.places)


def _text(expression):
    stack: list[str] = []
    for word in expression:
        operation, number = word & 7, word >> 3
        if operation in _JOIN:
            b, a = stack.pop(), stack.pop()
            stack.append(_JOIN[operation].format(a, b))
        else:
            stack.append(f"d{number}" if operation == runtime.DIM else str(number))
    return stack.pop()


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
    """The names in the chunk of this kind, or the defaults where there is none that fits."""
    chunk = stored.chunk(kind)
    names = names_in(chunk.data) if chunk else []
    return names if len(names) == len(defaults) else defaults


def names_in(contents: bytes) -> list[str]:
    """Return the names in a chunk of names, with marks for what is no text."""
    return printable(contents.decode(errors="replace"), keep="\0").split("\0")[:-1]
