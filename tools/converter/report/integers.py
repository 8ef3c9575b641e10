"""List what a model computes with integers, and what its quantization lost, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..converted import Converted
from ..ir import dtype_name, walk
from ..numbers.narrow import Row
from ..quantize.layers import Layer
from ..quantize.text import accuracy_text

_INTEGERS = ("int2", "int4", "int8", "int16", "uint2", "uint4", "uint8", "uint16")


@dataclass
class DtypeRow:
    """The steps of one kernel whose first input has one dtype.

    Attributes:
        kernel: name of the kernel.
        dtype: dtype of the first input.
        steps: number of the steps.
        macs: MACs of all these steps.
        share: their share of the model's MACs.
    """

    kernel: str
    dtype: str
    steps: int = 0
    macs: int = 0
    share: float = 0.0


@dataclass(frozen=True)
class Quantization:
    """The report's section on integers.

    Attributes:
        attempts: texts on the attempts of --quantize.
        layers: layers that --quantize has changed or not.
        narrowed: layers of --weights.
        dtypes: kernels that compute products, the one with the most work first.
    """

    attempts: Sequence[str] = ()
    layers: Sequence[Layer] = ()
    narrowed: Sequence[Row] = ()
    dtypes: Sequence[DtypeRow] = field(default_factory=list)


def quantization(converted: Converted) -> Quantization | None:
    """Return the section on integers; None for a float model without weights of fewer bits."""
    dtypes, outcome = _dtypes(converted.graph), converted.quantized
    is_integer = any(row.dtype in _INTEGERS for row in dtypes)
    if not (outcome or converted.narrowed or is_integer):
        return None
    attempts = [f"{a.what}{accuracy_text(a)}" for a in outcome.attempts] if outcome else []
    layers = outcome.layers if outcome else []
    return Quantization(attempts, layers, converted.narrowed, dtypes)


def _dtypes(graph):
    """Return rows by kernel and dtype of the first input that is not a constant."""
    rows: dict[tuple[str, str], DtypeRow] = {}
    for step in walk(graph.steps):
        inputs = [t for t in step.inputs if t.root.data is None]
        if step.macs and inputs:
            key = step.kernel, dtype_name(inputs[0].dtype)
            row = rows.setdefault(key, DtypeRow(*key))
            row.steps += 1
            row.macs += step.macs
    total = sum(row.macs for row in rows.values()) or 1
    for row in rows.values():
        row.share = row.macs / total
    return sorted(rows.values(), key=lambda row: -row.macs)
