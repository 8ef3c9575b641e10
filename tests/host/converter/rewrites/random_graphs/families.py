"""List a generator of graphs for each rewrite, and how often it must find its pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import onnx

from . import (
    attention,
    dense,
    functions,
    layout,
    quantized,
    quantized_moves,
    recurrent,
    samples,
)
from .builder import OPSETS, Builder, Misfit
from .running import BOUND

_OF_BYTES = (11, 12, 13, 17, 19, 21)
_FROM_13 = tuple(opset for opset in OPSETS if opset >= 13)  # Softmax is of one axis
_WITH_NORM = (17, 19, 21)
_WIDE = (21, 22)  # the first with integers of 16 bits


@dataclass(frozen=True)
class Family:
    """A generator of graphs for one rewrite.

    Attributes:
        rewrite: the module's name.
        make: adds the nodes.
        share: part of the graphs in which the rewrite must find its pattern.
        steps: by how many steps some integers may differ; None for layers, which
            add deviations up: for them the rewrite for boards must change no result.
    """

    rewrite: str
    make: Callable[[Builder], None]
    share: float
    steps: int | None = 0
    opsets: tuple[int, ...] = OPSETS
    bound: float = 0.0  # of what is for boards: see running.difference


def _families(of, *families):
    return {f.make.__name__: f for f in (Family(*family, opsets=of) for family in families)}


FLOATS = _families(
    OPSETS,
    ("activations", dense.activations, 0.3),
    ("batch_norm", dense.batch_norm, 0.3),
    ("column_sums", samples.column_sums, 0.3),
    ("common", layout.common, 0.4),
    ("constants", dense.constants, 0.4),
    ("distances", samples.distances, 0.3),
    ("duplicates", layout.duplicates, 0.7),
    ("gates", functions.gates, 0.4),
    ("gemms", dense.gemms, 0.25),
    ("identities", layout.identities, 0.4),
    ("last_steps", recurrent.last_steps, 0.1),
    ("layer_norm", functions.layer_norm, 0.4),
    ("pads", dense.pads, 0.15),
    ("reshapes", layout.reshapes, 0.5),
    ("residuals", dense.residuals, 0.2),
    ("scans", recurrent.scans, 0.3),
    ("single_cells", recurrent.alone, 0.2),
    ("transposes", layout.transposes, 0.4),
    ("transposes_absorbed", layout.transposes_absorbed, 0.2),
    ("transposes_pushed", layout.transposes_pushed, 0.3),
    ("unrolled", recurrent.unrolled, 0.3),
)
QUANTIZED = _families(
    _OF_BYTES,
    ("qdq.conv", quantized.convs, 0.5, 1),
    ("qdq.dynamic", quantized.dynamic, 0.5),
    ("qdq.elementwise", quantized.elementwise, 0.4, 1),
    ("qdq.hoist", quantized_moves.hoisted, 0.4),
    ("qdq.lookup", quantized_moves.tables, 0.5),
    ("qdq.matmul", quantized.products, 0.5, 1),
    ("qdq.normalize", quantized.deviations, 0.3, 1),
    ("qdq.pool", quantized.means, 0.5),
    ("qdq.resize", quantized.resized, 0.3),
    ("qdq.sink", quantized_moves.moved, 0.4),
    ("qdq.sink", quantized_moves.joined, 0.2),
    ("qdq.conv", quantized.transposed, 0.2),
    ("qdq.weights", quantized_moves.of_constants, 0.5),
)
QUANTIZED |= _families(_WITH_NORM, ("qdq.normalize", quantized.normalized, 0.4, 1))
QUANTIZED |= _families(_WIDE, ("qdq.wide", quantized.wide, 0.3))
BOARDS = _families(
    OPSETS,
    ("conv_max_pool", dense.conv_max_pool, 0.15),
    ("decays", samples.decays, 0.1),
)
BOARDS["heads"] = Family("heads", attention.heads, 0.3, opsets=_FROM_13, bound=BOUND)
BOARDS |= _families(_WITH_NORM, ("fixed_point", quantized.fixed, 0.3, None))
BOARDS |= _families(_OF_BYTES, ("unsigned", quantized.nets, 0.2, None))
ALL = {**FLOATS, **QUANTIZED, **BOARDS}


def graphs(
    family: Family, n: int, first: int = 0
) -> Iterator[tuple[int, Builder, onnx.ModelProto]]:
    """Yield (seed, builder, model) for the first n seeds that lead to a graph."""
    seed = first
    while n:
        builder = Builder(seed, family.opsets)
        try:
            family.make(builder)
            model = builder.model()
        except Misfit:
            model = None
        if model is not None and model.graph.node and model.graph.output:
            yield seed, builder, model
            n -= 1
        seed += 1
