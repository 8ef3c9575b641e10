"""Compare a model with the outputs that its training script computed (--expect).

An .onnx can be valid and yet compute something else than the trained model, by a fault of the
exporter. Only the trained model's own outputs show that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from ..errors import UsageError
from ..protos import free_inputs
from . import golden
from .compare import Difference, difference, error_of, text_of
from .given import dtype_of
from .tolerance import RELATIVE, Tolerance
from .vector import has_scores

_OF_FLOAT16 = 2.0**-10  # of the largest magnitude: frameworks round between layers too


@dataclass(frozen=True)
class Expected:
    """The comparison of a model with expected outputs.

    Attributes:
        outputs: the user's outputs.
        differences: differences of onnxruntime's outputs, empty if it does not run the model.
        why: reason why onnxruntime does not run it.
        classes: texts on rows with another class.
    """

    outputs: list[np.ndarray | list[dict] | dict]
    differences: list[Difference]
    why: str
    classes: list[str]

    @property
    def text(self) -> str:
        """Return one line on how far the model is from the expected outputs."""
        return text_of(self.differences) if self.differences else f"not compared: {self.why}"

    @property
    def warning(self) -> str:
        """Return a text about differences beyond rounding, with advice; "" without any."""
        wrong = [str(d) for d in self.differences if not d.is_right]
        if not wrong + self.classes:
            return ""
        return (
            f"the model does not compute what --expect gives: {'; '.join(wrong + self.classes)}. "
            "onnxruntime runs it as the converter does, so the .onnx is another model than the "
            "one that was trained, or these are other inputs: export it in another way"
        )

    def bounds(self, bounds: Sequence[float]) -> list[float]:
        """Return the bounds of a golden vector that holds the script's outputs.

        onnxruntime's and the script's outputs are both right within rounding, so their difference
        is added to the bounds. A difference beyond rounding remains an error of the board.
        """
        if not self.differences:
            return list(bounds)
        pairs = zip(bounds, self.differences, strict=True)
        return [bound + (d.error if d.is_right else 0.0) for bound, d in pairs]

    def report(self) -> dict:
        """Return the comparison as a dict for JSON."""
        error = error_of(self.differences)
        return {"text": self.text, "error": error, "warning": self.warning}


def expected(
    model: onnx.ModelProto,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    states: dict[str, str],
    grids: Mapping[str, tuple[float, int]] | None = None,
) -> Expected:
    """Compare onnxruntime's outputs of a model with the outputs of its training script.

    Args:
        model: neither quantized nor with rounded weights.
        inputs: arrays in the graph's order.
        outputs: the script's arrays in the graph's order; see given.checked_outputs.
        states: outputs by the input that they feed; it starts with zeros.
        grids: scale and zero point by name of inputs and outputs, which may be integers here where
            the model has floats.

    Raises:
        UsageError: if rows of an output of maps do not fit it.
    """
    grids = grids or {}
    infos = [i for i in free_inputs(model.graph) if i.name not in states]
    if len(infos) == len(inputs):  # otherwise onnxruntime refuses them
        inputs = [
            _dequantized(x, grids.get(info.name), dtype_of(info))
            for info, x in zip(infos, inputs, strict=True)
        ]
    computed = golden.named_reference(model, inputs, states)
    if computed is None:
        return Expected(list(outputs), [], golden.why_none(model, inputs, states), [])
    if len(computed) != len(outputs):
        raise UsageError(f"--expect: {len(outputs)} given, {len(computed)} needed")
    is_whole = [_is_whole(y, got) for (_, got), y in zip(computed, outputs, strict=True)]
    required = [
        (name, _as(name, _dequantized(y, grids.get(name), np.float32) if whole else y, got))
        for (name, got), y, whole in zip(computed, outputs, is_whole, strict=True)
    ]
    fed = golden.feed_of(model, inputs, states)
    relative = _OF_FLOAT16 if any(_is_float16(y) for _, y in required) else RELATIVE
    bounds = Tolerance(model, relative).bounds(fed, required)
    differences, classes = [], []
    for (name, y), (_, got), bound, whole in zip(
        required, computed, bounds, is_whole, strict=True
    ):
        step = grids[name][0] if whole and name in grids else 0.0
        differences.append(difference(name, y, got, bound.least + step))
        if not differences[-1].is_right:
            classes += _other_classes(name, y, got)
    return Expected([y for _, y in required], differences, "", classes)


def _is_whole(y, got):
    """Return True if the user's output is of integers where the model's is of floats."""
    both = isinstance(y, np.ndarray) and isinstance(got, np.ndarray)
    return both and y.dtype.kind in "iu" and got.dtype.kind == "f"


def _dequantized(x, grid, dtype):
    """Return the floats that integers represent; other arrays unchanged."""
    if grid is None or x.dtype.kind not in "iu" or np.dtype(dtype).kind != "f":
        return x
    scale, zero_point = grid
    return np.asarray((x.astype(np.float64) - zero_point) * scale).astype(dtype)


def _as(name, array, got):
    """Convert rows of numbers to maps with the keys of the model's output, if that has maps."""
    if isinstance(got, np.ndarray):
        return array
    maps = [got] if isinstance(got, dict) else got
    shape = [len(maps), len(maps[0]) if maps else 0]
    rows = array.reshape(1, -1) if isinstance(got, dict) else array
    if list(rows.shape) != shape or rows.dtype.kind not in "fiu":
        raise UsageError(
            f"--expect: output {name} is given {rows.dtype} {list(rows.shape)}: a row of numbers "
            f"for each map is needed, in the order of its keys: {shape}"
        )
    result = [dict(zip(m, row.tolist(), strict=True)) for m, row in zip(maps, rows, strict=True)]
    return result[0] if isinstance(got, dict) else result


def _is_float16(value):
    return isinstance(value, np.ndarray) and value.dtype == np.float16


def _other_classes(name, required, got):
    """Return a text if the best score of a row belongs to another class."""
    if not has_scores(required) or required.shape != got.shape:
        return []
    rows = [y.astype(np.float64).reshape(-1, y.shape[-1]) for y in (required, got)]
    right, computed = (row.argmax(-1) for row in rows)
    # Classes with equal scores in the expected output do not count: either may come first.
    best = np.take_along_axis(rows[0], right[:, None], -1)
    chosen = np.take_along_axis(rows[0], computed[:, None], -1)
    k = np.flatnonzero((right != computed) & (best != chosen)[:, 0])
    if not k.size:
        return []
    first = f"{computed[k[0]]} instead of {right[k[0]]}"
    more = f" and {k.size - 1} more rows" if k.size > 1 else ""
    return [f"{name} has another class: {first}{more}"]
