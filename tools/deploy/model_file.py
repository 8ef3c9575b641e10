"""Read a model.bin on this computer: what it needs of the package and of a board's memory."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from tools import foreign
from tools.errors import ConvertError
from tools.format import layout, reader

from .errors import DeployError


@dataclass(frozen=True)
class ModelFile:
    """Contents and properties of a model file; sizes in bytes.

    Attributes:
        kernels: names of the kernels that it uses.
        steps: number of steps.
        operands: number of tensors over all steps, each counted as often as a step uses it.
        optional: optional modules of the package that it needs, those of `requested` included.
        weights: dtypes of the steps' second inputs.
        arena_nbytes: size of the arena if weights are read in place.
        streamed_nbytes: size of the arena if weights are streamed.
        state_nbytes: size of the state.
        held_nbytes: size of the weights, which are in RAM unless they are read in place.
        tables_nbytes: size of the tables that are read at load, with space to expand them.
        golden_nbytes: size of the test vectors, 0 without any.
        interface_nbytes: size of all inputs, or of all outputs if these are larger: they are in
            memory together.
        requested: optional modules that the user's program imports.
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
    interface_nbytes: int
    requested: frozenset[str] = frozenset()

    def with_requested(self, modules: Collection[str]) -> ModelFile:
        """Return the same with optional modules that the user's program imports."""
        optional = self.optional.union(modules)
        return replace(self, optional=optional, requested=self.requested.union(modules))

    @property
    def is_streamed(self) -> bool:
        """True if weights are read while it runs, unless the file is used in place."""
        return self.streamed_nbytes > self.arena_nbytes

    @property
    def source_digest(self) -> str:
        """SHA-256 of the .onnx that it was converted from; "" if the file does not have it."""
        chunk = reader.read(self.data).chunk(layout.CHUNK_SOURCE)
        about = json.loads(chunk.data) if chunk else {}
        return str(about.get("sha256", ""))


def read_model(path: Path) -> ModelFile:
    """Read and check a model file.

    Raises:
        DeployError: if it is not a model, or damaged.
    """
    try:
        return parse_model(path.name, path.read_bytes(), path)
    except OSError as e:
        raise DeployError(f"{path}: {e.strerror}") from None


def parse_model(name: str, data: bytes, path: Path | str = "the model") -> ModelFile:
    """Check the bytes of a model file, and return its properties.

    Args:
        name: name of the file on the board.
        data: its contents.
        path: name of the file in messages.

    Raises:
        DeployError: if it is not a model, or damaged.
    """
    try:
        foreign.check_bin(Path(path), data)
    except ConvertError as e:
        raise DeployError(str(e)) from None
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
        interface_nbytes=max(
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
