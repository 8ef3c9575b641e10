"""Hold facts about a whole model and its bodies that the ONNX model itself does not contain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx

from .own import Operators


@dataclass(frozen=True)
class Context:
    """What each pass takes besides the graph or one of its bodies.

    Attributes:
        operators: the lowerings that can be used.
        bounds: {name of a value or of an input's dim: the maximum of the size that a run decides}.
        declared: types that the model declares for its outputs and its bodies' outputs, by name.
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
