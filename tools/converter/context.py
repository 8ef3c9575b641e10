"""What holds for a whole model and stands nowhere in it: handed along from stage to stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx

from .own import Operators


@dataclass(frozen=True)
class Context:
    """What the graph, and each body in it, is looked at with.

    operators: the lowerings that there are; bounds: by name of a value, or of a dim of an input,
    the most that there can be of what a run decides; declared: the types that the model declares
    its outputs and those of its bodies with, by name; keeps_operators: the device computes every
    operator (--optimize 0, see simplify/keep.py); expands: what a lowering serves only in part is
    always computed by its definition (Lowering.takes), of whose products something else is wanted;
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
