"""Read models and tensor files for the tools.

The device's reader parses and checks them. Here the results get the names that people gave, and
wrong digests are reported instead of refused.
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
    """A chunk of a file.

    Attributes:
        kind: CHUNK_... of layout.
        intact: True if its digest is right.
        place: offset in the arena, if it is streamed.
    """

    kind: int
    offset: int
    data: bytes
    intact: bool
    place: int | None = None


@dataclass
class StoredTensor:
    """A tensor of a file.

    Attributes:
        storage: STORAGE_... of layout.
        offset: offset from the start of the arena, the file or the state; or an object's slot.
        nbytes: size as stored.
        packed: True if several elements share a byte.
        dims_text: the shape as text, with expressions for dimensions that a run decides.
        scale: scale of a quantized input or output, else None.
        zero_point: its zero point.
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
        """The dtype of numpy; object for strings and maps."""
        if is_object(self.dtype):
            return np.dtype(object)
        return helper.tensor_dtype_to_np_dtype(self.dtype)


@dataclass
class StoredNode:
    """A step of a file: its kernel, tensor ids and parameters.

    Attributes:
        reads: chunks that are read before it.
        depth: 0 outside of bodies, 1 in the body of a step, and so on.
        place: index of the word in the graph at which the parameters start.
        bodies: steps of each body.
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
    """Dimensions that a run decides.

    Attributes:
        bounds: largest size of each dimension.
        expressions: expressions as text.
        places: {index of a word in the graph: expression}.
    """

    bounds: list[int] = field(default_factory=list)
    expressions: list[str] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)

    def dim(self, d: int) -> str:
        """Return an entry of a shape as text.

        Raises:
            ModelError: if the expression does not exist.
        """
        if -1 - d >= len(self.expressions):
            fail("number of an expression")
        return str(d) if d >= 0 else self.expressions[-1 - d]


@dataclass
class Stored:
    """The contents of a .bin.

    Attributes:
        intact: True if the tables' digest is right.
        inputs: tensor ids.
        outputs: tensor ids.
        nodes: all steps, each followed by the steps of its bodies.
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
        """Return the first chunk of a kind; None without any."""
        return next((c for c in self.chunks if c.kind == kind), None)


class Parsed(Reader):
    """Parse a file of any kind with the device's reader, without the contents of its chunks.

    Attributes:
        version: format version.
        kind: KIND_... of layout.
        features: bits FEATURE_... of layout.
        numbers_at: offset of the tables' numbers.
        numbers_end: offset behind them.
        runtime: run-time dimensions, None without any.
        steps: steps outside of bodies.

    Raises:
        ModelError: if the file is invalid.
        UnsupportedError: if its version or a feature is not supported.
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
        pass  # reader.read checks digests; widening would take minutes here

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
        """True if the tables' digest is right."""
        try:
            self._check_digest()
        except ModelError:
            return False
        return True


def parse(data: bytes) -> Parsed:
    """Parse a model or tensor file without its chunks.

    Raises:
        ConvertError: if it is invalid.
    """
    if data[:8] != layout.MAGIC:
        raise ConvertError("not a converted model: it does not start with MPCONNXR")
    try:
        return Parsed(data)
    except MpconnxrError as e:
        raise _refusal(e) from None


def read(data: bytes) -> Stored:
    """Parse a model or tensor file with its chunks.

    Raises:
        ConvertError: if it is invalid.
    """
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
    """Return the arena's size of a model whose weights are streamed; 0 if it is not a model."""
    try:
        return parse(data).streamed_nbytes
    except ConvertError:
        return 0


def _refusal(e):
    has_advice = isinstance(e, UnsupportedError)  # its text has advice
    return ConvertError(str(e) if has_advice else f"{e}: convert the model again")


def _walk(steps):
    """Yield steps, each followed by the steps of its bodies."""
    for step in steps:
        yield step
        for body in step.bodies:
            yield from _walk(body)


def _chunk(data, c, is_last):
    contents = data[c.offset : c.offset + c.nbytes]
    # the tables hold no digest of a seal, which signs them
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
    """Set the names of inputs, outputs and steps: the file's, or numbers if it was stripped."""
    ids = stored.inputs + stored.outputs
    names = [f"input_{i}" for i in range(len(stored.inputs))]
    names += [f"output_{i}" for i in range(len(stored.outputs))]
    stored_names = _names_or(stored, layout.CHUNK_NAMES, names)
    for i, name in reversed(list(zip(ids, stored_names, strict=True))):
        stored.tensors[i].name = name
    steps = [f"step {i}" for i in range(len(stored.nodes))]
    for node, name in zip(stored.nodes, _names_or(stored, layout.CHUNK_NODES, steps), strict=True):
        node.name = name


def _names_or(stored, kind, defaults):
    """Return the names in a chunk, or the defaults if it does not have as many names."""
    chunk = stored.chunk(kind)
    names = names_in(chunk.data) if chunk else []
    return names if len(names) == len(defaults) else defaults


def names_in(contents: bytes) -> list[str]:
    """Return the names in a chunk of names; bytes that are not text are marked."""
    return printable(contents.decode(errors="replace"), keep="\0").split("\0")[:-1]
