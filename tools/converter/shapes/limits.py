"""What a model's declared output shapes say about sizes that a run decides.

An exporter that writes `y: float[10]` for a Range of computed limits says how long it can get.

1. A graph output's declared extents bound those of the value.
2. Element-wise operators give nothing larger than they take, but for an extent of 1: the bounds of
   their result hold for their inputs too, aligned as broadcasting does.
"""

from __future__ import annotations

import onnx

from ..context import Context
from .extent_rules import BROADCASTING

_ELEMENTWISE = ("Identity", "Cast", "CastLike", "Where", "Not", "Cos", "Sin", *BROADCASTING)


def limits_of(model: onnx.ModelProto, context: Context) -> dict[str, list[int]]:
    """The most that each extent of a value can be, by the value's name, as far as it is known."""
    found = {
        name: [max(d.dim_value, 1) for d in kind.tensor_type.shape.dim]
        for name, kind in context.declared.items()
        if _is_fixed(kind.tensor_type.shape)
    }
    for node in reversed(model.graph.node):
        if node.op_type in _ELEMENTWISE and node.output[0] in found:
            for name in node.input:
                found.setdefault(name, found[node.output[0]])
    return found


def _is_fixed(shape):
    return bool(shape.dim) and all(d.HasField("dim_value") for d in shape.dim)


def limit(found: dict[str, list[int]], name: str, axis: int, rank: int) -> int | None:
    """The bound of one extent of a value of this rank; None where nothing is known."""
    dims = found.get(name, ())
    return dims[len(dims) - rank + axis] if rank <= len(dims) else None
