"""Hold what applies to a whole model and its bodies, and does not stand in the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx

from .own import Operators


@dataclass(frozen=True)
class Context:
    """What each pass takes beside the graph, or beside one of its bodies.

    Attributes:
        operators: the lowerings that there are.
        bounds: by name of a value or of an input's dim, the maximum of what a run decides.
        declared: the types that the model declares its outputs and its bodies' outputs with, by
            name.
        keeps_operators: the device computes every operator (--optimize 0, see simplify/keep.py).
        expands: an operator that its lowering serves only in part is always computed by its
            definition (Lowering.takes), because its products are to be computed otherwise.
        floats: names of quantized nodes that compute in float, because their integer forms cannot
            follow a size that each run decides.
    """

    operators: Operators = field(default_factory=Operators)
    bounds: Mapping[str, int] = field(default_factory=dict)
    declared: Mapping[str, onnx.TypeProto] = field(default_factory=dict)
    keeps_operators: bool = False
    expands: bool = False
    floats: frozenset[str] = frozenset()


PLAIN = Context()
