"""Hold the result of a conversion, and report its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np
import onnx

from tools import seal

from .external_weights import ExternalWeights, without_placeholders
from .ir import Graph, Tensor, dtype_name, walk
from .numbers.narrow import Row
from .plan import Plan
from .quantize.post_training import Outcome
from .reference.expected import Expected
from .reference.vector import Vector
from .shapes import extent


@dataclass
class Converted:
    """The result of a conversion.

    Attributes:
        data: the bytes of the file.
        graph: the steps in it.
        plan: the plan of the arena.
        notes: choices that were made for the user.
        nodes_before: number of nodes of the model as it was loaded.
        rewritten: the model after the rewrites.
        weights: large constants of `rewritten` and `answers`.
        log: number of places that each rewrite changed, by its name.
        quantized: what --quantize did.
        narrowed: the loss of --weights, by layer.
        grids: (scale, zero_point) by name of an input or output of integers that has them.
        answers: the model that the golden vector was computed with, if Options.vector is true.
        vector: the golden vector.
        no_vector: why there is no golden vector, or "".
        expected: comparison of the model's outputs with the outputs that the user expects.
    """

    data: bytes
    graph: Graph
    plan: Plan
    notes: list[str]
    nodes_before: int
    rewritten: onnx.ModelProto
    weights: ExternalWeights
    log: dict[str, int] = field(default_factory=dict)
    quantized: Outcome | None = None
    narrowed: Sequence[Row] = ()
    grids: dict[str, tuple[float, int]] = field(default_factory=dict)
    answers: onnx.ModelProto | None = None
    vector: Vector | None = None
    no_vector: str = ""
    expected: Expected | None = None

    @cached_property
    def model(self) -> onnx.ModelProto:
        """The model after the rewrites, with all its constants."""
        return without_placeholders(self.rewritten)

    @cached_property
    def reference(self) -> onnx.ModelProto:
        """The model that the golden vector was computed with, with all its constants."""
        return without_placeholders(self.answers)

    def report(self) -> dict:
        """Return the figures of the conversion; sizes in bytes."""
        graph = self.graph
        weights = _distinct(t.root for t in graph.tensors() if t.root.data is not None)
        scratch = [sum(t.nbytes for t in step.scratch) for step in walk(graph.steps)]
        return {
            "nodes": self.nodes_before,
            "nodes_simplified": graph.nodes_after,
            "steps": sum(1 for _ in walk(graph.steps)),
            "macs": sum(step.total_macs for step in graph.steps),
            "file_bytes": len(self.data),
            "weight_bytes": sum(t.nbytes or t.stored_nbytes for t in weights),
            "arena_bytes": self.plan.arena_bytes,
            "arena_lower_bound_bytes": self.plan.lower_bound_bytes,
            "streamed_arena_bytes": graph.weights.streamed_nbytes,
            "window_bytes": graph.weights.window_nbytes,
            "held_bytes": graph.weights.held_nbytes,
            "scratch_bytes": max(scratch, default=0),
            "state_bytes": self.plan.state_bytes,
            "inputs": [self._describe(t) for t in graph.inputs],
            "outputs": [self._describe(t) for t in graph.outputs],
            "rewrites": self.log,
            "layers": [asdict(row) for row in self.narrowed],
            "sha256": seal.digest(self.data).hex(),
            "notes": self.notes,
            "quantized": self.quantized.report() if self.quantized else None,
        }

    def _describe(self, t):
        shape = [str(d) if extent.is_open(d) else d for d in t.shape]
        grid = zip(("scale", "zero_point"), self.grids.get(t.name, ()), strict=False)
        return {"name": t.name, "dtype": dtype_name(t.dtype), "shape": shape, **dict(grid)}


def _distinct(constants: Iterable[Tensor]) -> list[Tensor]:
    """Return constants with equal contents once, as a file holds them."""
    distinct = {
        id(t) if t.is_object else (t.dtype, np.asarray(t.data).tobytes()): t for t in constants
    }
    return list(distinct.values())
