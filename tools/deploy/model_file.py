"""A model.bin on this computer: what it needs of the package and of a board's memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tools.errors import ConvertError
from tools.format import layout, reader

from .errors import DeployError


@dataclass(frozen=True)
class ModelFile:
    """A model's bytes and what they say; sizes in bytes.

    steps: their number; operands: their tensors, each as often as a step takes it; optional: of
    the modules of the core that some models need only, those that it needs; weights: dtypes of the
    steps' second inputs; arena_nbytes: with the weights read in place; streamed_nbytes: with the
    weights streamed; held_nbytes: weights that a file system's file is not read in place for, in
    RAM; tables_nbytes: read at load, with room for what is written short in them; golden_nbytes:
    of the test vectors, 0 without any; borders_nbytes: of all inputs, or of all outputs if they
    have more, which are in memory at the same time.
    """

    name: str
    data: bytes
    kernels: list[str]
    steps: int
    operands: int
    optional: frozenset[str]
    weights: frozenset[int]
    arena_nbytes: int
    streamed_nbytes: int
    state_nbytes: int
    held_nbytes: int
    tables_nbytes: int
    golden_nbytes: int
    borders_nbytes: int

    @property
    def is_streamed(self) -> bool:
        """Whether weights are read while it runs, where the file is not used in place."""
        return self.streamed_nbytes > self.arena_nbytes

    @property
    def source_digest(self) -> str:
        """SHA-256 of the .onnx that it was converted from; "" where the file does not say it."""
        chunk = reader.read(self.data).chunk(layout.CHUNK_SOURCE)
        about = json.loads(chunk.data) if chunk else {}
        return str(about.get("sha256", ""))


def read_model(path: Path) -> ModelFile:
    """Raises DeployError for what is no model, or a damaged one."""
    try:
        return parse_model(path.name, path.read_bytes(), path)
    except OSError as e:
        raise DeployError(f"{path}: {e.strerror}") from None


def parse_model(name: str, data: bytes, path: Path | str = "the model") -> ModelFile:
    """Of a file's bytes; path: for messages. Raises DeployError."""
    if not data.startswith(layout.MAGIC):
        raise DeployError(f"{path} is not a model.bin: make one with mpconnxr convert")
    try:
        stored = reader.read(data)
    except ConvertError as e:
        raise DeployError(f"{path}: {e}") from None
    if stored.kind != layout.KIND_MODEL:
        raise DeployError(f"{path} holds tensors, not a model")
    if not stored.intact or not all(chunk.intact for chunk in stored.chunks):
        raise DeployError(f"{path} is damaged: its digests are wrong")
    return _described(name, data, stored)


def _described(name, data, stored):
    def nbytes(*kinds):
        return sum(len(chunk.data) for chunk in stored.chunks if chunk.kind in kinds)

    return ModelFile(
        name=name,
        data=data,
        kernels=sorted({node.kernel for node in stored.nodes}),
        steps=len(stored.nodes),
        operands=sum(len(n.inputs) + len(n.outputs) + len(n.scratch) for n in stored.nodes),
        optional=frozenset(_optional(stored, nbytes)),
        weights=frozenset(
            stored.tensors[node.inputs[1]].dtype for node in stored.nodes if len(node.inputs) > 1
        ),
        arena_nbytes=stored.arena_nbytes,
        streamed_nbytes=stored.streamed_nbytes,
        state_nbytes=stored.state_nbytes,
        held_nbytes=nbytes(layout.CHUNK_DATA),
        tables_nbytes=stored.tables_nbytes,
        golden_nbytes=nbytes(layout.CHUNK_GOLDEN),
        borders_nbytes=max(
            sum(stored.tensors[i].nbytes for i in ids) for ids in (stored.inputs, stored.outputs)
        ),
    )


def _optional(stored, nbytes):
    if stored.features & layout.FEATURE_RUNTIME_DIMS:
        yield from ("dynamic.runtime", "dynamic.sizes")
    if stored.features & layout.FEATURE_OBJECTS:
        yield from ("io.objects", "inspect.golden_objects")
    if nbytes(layout.CHUNK_IMAGES):
        yield "io.images"
    if nbytes(layout.CHUNK_HALVES):
        yield "build.widen"
    if any(t.packed for t in stored.tensors):
        yield "build.unpack"
