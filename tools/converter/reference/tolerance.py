"""Compute how far the outputs of a correct board may be from the reference.

A golden vector has a bound for each output (docs/format.md): a part of the output's largest
magnitude, plus the effect of one step of the values that quantization rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto

from ..ir import Graph
from .rounded import NONE, Rounded

RELATIVE = 1e-4  # of the largest magnitude: docs/float.md
RELATIVE_BY_FLOAT = {"fast16": 2e-3}  # docs/float.md, "In 16 bits"
_EPSILON = {  # rounding of values between two operators, on both sides
    TensorProto.FLOAT16: 2.0**-10,
    TensorProto.BFLOAT16: 2.0**-7,
}
_LARGEST = 3e38  # of a bound, which the file stores as float32


def relative_of(graph: Graph, float_mode: str) -> float:
    """Return the largest error of a float output, relative to its largest magnitude."""
    dtypes = {t.dtype for t in graph.tensors() if t.root.data is None}
    steps = [step for dtype, step in _EPSILON.items() if dtype in dtypes]
    return max(RELATIVE_BY_FLOAT.get(float_mode, RELATIVE), *steps, 0.0)


class Bound(NamedTuple):
    """The largest error of an output of a correct board, in the output's units.

    Attributes:
        least: bound that allows one step of the output itself, if it is rounded.
        most: bound that allows the largest effect of steps further inside.
    """

    least: float
    most: float


class Tolerance:
    """The bounds of a model's outputs.

    Args:
        model: the reference.
        relative: see relative_of.
    """

    def __init__(self, model: onnx.ModelProto, relative: float):
        self._relative = relative
        self._rounded = Rounded(model)
        self.is_loose = relative > RELATIVE or self._rounded.is_any()

    def grids_of(self, inputs: Iterable[str]) -> dict[str, tuple[float, int, np.dtype]]:
        """Return scale, zero point and dtype of the integers that float inputs become, by name."""
        grids = {name: self._rounded.grid_of_input(name) for name in inputs}
        return {name: grid for name, grid in grids.items() if grid}

    def bounds(
        self, inputs: Mapping[str, np.ndarray], outputs: Sequence[tuple[str, object]]
    ) -> list[Bound]:
        """Return the bound of each output.

        Args:
            inputs: all inputs of the model, by name.
            outputs: (name, value in the reference) of each.
        """
        names = [n for n, v in outputs if is_float(v) or self._rounded.is_rounded(n)]
        effects = self._rounded.effects(inputs, list(dict.fromkeys(names)))
        return [self._bound(*output, effects) for output in outputs]

    def _bound(self, name, value, effects):
        share = self._relative * largest_of(value)
        if not is_float(value) and name not in effects:
            # Labels are exact; a number that was cast from a float has the float's error.
            share = float(self._rounded.is_cast(name) * int(share))
        elif not is_float(value):
            share = 0.0
        effect = effects.get(name, NONE)
        least, most = share + effect.step, share + max(effect.step, effect.moved)
        return Bound(min(least, _LARGEST), min(most, _LARGEST))


def is_float(value: object) -> bool:
    """Return True for floats of any width, and for maps to numbers."""
    if not isinstance(value, np.ndarray):
        return True
    return value.dtype.kind in "fV"  # V: dtypes of ml_dtypes


def largest_of(value: object) -> float:
    """Return the largest finite magnitude of an array or of maps, 0.0 without any."""
    if not isinstance(value, np.ndarray):
        maps = [value] if isinstance(value, dict) else value
        value = np.array([v for m in maps for v in m.values() if not isinstance(v, str)], float)
    if value.dtype.kind in "OUS":
        return 0.0
    numbers = value.astype(np.float64).ravel()
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))
