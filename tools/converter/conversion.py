"""A conversion on its way: what each stage has made of the model so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from .context import PLAIN, Context
from .ir import Graph
from .numbers.narrow import Row
from .numbers.precision import Precision
from .numbers.ranges import NONE, Lossy
from .options import Options
from .plan import Plan
from .quantize import Outcome
from .reference.expected import Expected
from .reference.vector import Vector


@dataclass
class Conversion:
    """What stages hand on. A stage takes what those before it have set, and sets its own.

    source, options: the caller's; notes: choices made for the user; context: see Context;
    declared: types that the file declares for inner values, by name, see shapes/declarations.py;
    model: as far as it has come; nodes_before: of the model as it was loaded;
    twin: the model with other bounds of the dims that each run decides, if there are such;
    loaded, doubt: the model with its shapes fixed, and which rule of ONNX it may break;
    simplified: the model that the caller feeds and reads, which later stages merge operators of;
    answers: the model that golden vectors are computed with;
    log: by name of a rewrite, how many places it changed; rewritten: what can be saved;
    quantized, narrowed: what --quantize did, and what --weights cost, by layer;
    golden: inputs of the golden vector, None for random ones;
    lossy: products whose values range too widely for one exponent; split: names of those that get
    several, and of the nodes that are new for that; precision: of products;
    graph, arena: what the device runs, and where values lie; data: the file;
    grids: (scale, zero_point) by name of an input or output of integers that has them;
    vector: the golden vector, also where the file has none; no_vector: why there is none;
    expect: outputs that the user gives for it; expected: how far the model is from them.
    """

    source: Path | onnx.ModelProto
    options: Options
    notes: list[str] = field(default_factory=list)
    context: Context = PLAIN
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
        """All models that stages may still look at."""
        found = (self.model, self.twin, self.loaded, self.simplified, self.answers, self.rewritten)
        return [model for model in found if model is not None]
