"""Hold the state of one conversion, which each pass of pipeline.py changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from .context import PLAIN, Context
from .external_weights import ExternalWeights
from .ir import Graph
from .numbers.narrow import Row
from .numbers.precision import Precision
from .numbers.ranges import NONE, Lossy
from .options import Options
from .plan import Plan
from .quantize.post_training import Outcome
from .reference.expected import Expected
from .reference.vector import Vector


@dataclass
class Conversion:
    """The state of one conversion: a pass reads results of earlier passes, and sets its own.

    Attributes:
        source: the caller's file or model.
        options: the caller's requests.
        notes: choices that were made for the user, one line each.
        context: facts about the whole model and its bodies.
        weights: the large constants of its models.
        declared: types that the file declares for inner values, by name (shapes/declarations.py).
        model: the model as far as it is converted.
        nodes_before: number of nodes of the model as it was loaded.
        twin: the model with other bounds of the dims that each run decides, None without such
            dims.
        loaded: the model with its shapes fixed.
        doubt: the rule of ONNX that the loaded model may break, or "".
        simplified: the model that the caller feeds and reads, before operators are merged.
        answers: the model that golden vectors are computed with.
        log: number of places that each rewrite changed, by its name.
        rewritten: the model as it can be saved.
        quantized: what --quantize did.
        narrowed: the loss of --weights, by layer.
        golden: inputs of the golden vector, None for random ones.
        lossy: products whose values range too widely for one exponent.
        split: names of the products that get several exponents, and of the nodes added for that.
        precision: how each product is computed.
        graph: the steps that the device runs.
        arena: the plan of the arena.
        data: the bytes of the file.
        grids: (scale, zero_point) by name of an input or output of integers that has them.
        vector: the golden vector, also if the file has none.
        no_vector: why there is no golden vector, or "".
        expect: outputs that the user expects for the golden vector's inputs.
        expected: comparison of the model's outputs with `expect`.
    """

    source: Path | onnx.ModelProto
    options: Options
    notes: list[str] = field(default_factory=list)
    context: Context = PLAIN
    weights: ExternalWeights = field(default_factory=ExternalWeights)
    declared: Mapping[str, onnx.TypeProto] = field(default_factory=dict)
    model: onnx.ModelProto | None = None
    nodes_before: int = 0
    twin: onnx.ModelProto | None = None
    loaded: onnx.ModelProto | None = None
    doubt: str = ""
    simplified: onnx.ModelProto | None = None
    answers: onnx.ModelProto | None = None
    log: dict[str, int] = field(default_factory=dict)
    rewritten: onnx.ModelProto | None = None
    quantized: Outcome | None = None
    narrowed: Sequence[Row] = ()
    golden: list | None = None
    lossy: Lossy = NONE
    split: Sequence[str] = ()
    precision: Precision = field(default_factory=Precision)
    graph: Graph | None = None
    arena: Plan | None = None
    data: bytes = b""
    grids: dict[str, tuple[float, int]] = field(default_factory=dict)
    vector: Vector | None = None
    no_vector: str = ""
    expect: list | None = None
    expected: Expected | None = None

    def models(self) -> list[onnx.ModelProto]:
        """Return all models that later passes may read."""
        models = self.model, self.twin, self.loaded, self.simplified, self.answers, self.rewritten
        return [model for model in models if model is not None]
