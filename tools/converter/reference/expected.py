"""How far a model is from outputs that its training script computed: `--expect`.

An .onnx can be valid and yet compute something else than the model that was trained, by a fault of
the exporter. That shows only beside the trained model's own outputs.
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

_OF_FLOAT16 = 2.0**-10  # of the largest magnitude: frameworks round between layers, too


@dataclass(frozen=True)
class Expected:
    """outputs: the user's; differences: of onnxruntime's from them, empty where it does not run
    the model; why: why it does not; classes: what is said of rows with another class.
    """

    outputs: list[np.ndarray | list[dict] | dict]
    differences: list[Difference]
    why: str
    classes: list[str]

    @property
    def text(self) -> str:
        """One line that says how far the model is from them."""
        return text_of(self.differences) if self.differences else f"not compared: {self.why}"

    @property
    def warning(self) -> str:
        """What is beyond rounding, and what to do; "" if nothing is."""
        wrong = [str(d) for d in self.differences if not d.is_right]
        if not wrong + self.classes:
            return ""
        return (
            f"the model does not compute what --expect gives: {'; '.join(wrong + self.classes)}. "
            "onnxruntime runs it as the converter does, so the .onnx is another model than the "
            "one that was trained, or these are other inputs: export it in another way"
        )

    def bounds(self, bounds: Sequence[float]) -> list[float]:
        """Return the bounds of a vector with these outputs instead of onnxruntime's.

        Both are right within rounding. What is beyond it stays an error of the board.
        """
        if not self.differences:
            return list(bounds)
        pairs = zip(bounds, self.differences, strict=True)
        return [bound + (d.error if d.is_right else 0.0) for bound, d in pairs]

    def report(self) -> dict:
        """Return the same for JSON."""
        error = error_of(self.differences)
        return {"text": self.text, "error": error, "warning": self.warning}


def expected(
    model: onnx.ModelProto,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    states: dict[str, str],
    grids: Mapping[str, tuple[float, int]] | None = None,
) -> Expected:
    """Compare onnxruntime's outputs of a model with those of its training script.

    Args:
        model: neither quantized nor with rounded weights.
        inputs: arrays in the graph's order.
        outputs: the script's arrays likewise; see given.checked_outputs.
        states: outputs by input, which starts with zeros.
        grids: scale and zero point by name of inputs and outputs, which may be given as integers
            where the model has floats.

    Raises:
        UsageError: rows of an output of maps do not fit it.

    """
    grids = grids or {}
    infos = [i for i in free_inputs(model.graph) if i.name not in states]
    if len(infos) == len(inputs):  # else there is no reference
        inputs = [
            _dequantized(x, grids.get(info.name), dtype_of(info))
            for info, x in zip(infos, inputs, strict=True)
        ]
    found = golden.named_reference(model, inputs, states)
    if found is None:
        return Expected(list(outputs), [], golden.why_none(model, inputs, states), [])
    if len(found) != len(outputs):
        raise UsageError(f"--expect: {len(outputs)} given, {len(found)} needed")
    is_whole = [_is_whole(y, got) for (_, got), y in zip(found, outputs, strict=True)]
    wanted = [
        (name, _as(name, _dequantized(y, grids.get(name), np.float32) if whole else y, got))
        for (name, got), y, whole in zip(found, outputs, is_whole, strict=True)
    ]
    fed = golden.feed_of(model, inputs, states)
    relative = _OF_FLOAT16 if any(_is_float16(y) for _, y in wanted) else RELATIVE
    bounds = Tolerance(model, relative).bounds(fed, wanted)
    differences, classes = [], []
    for (name, y), (_, got), bound, whole in zip(wanted, found, bounds, is_whole, strict=True):
        step = grids[name][0] if whole and name in grids else 0.0
        differences.append(difference(name, y, got, bound.least + step))
        if not differences[-1].is_right:
            classes += _other_classes(name, y, got)
    return Expected([y for _, y in wanted], differences, "", classes)


def _is_whole(y, got):
    """Return True for integers that are given for an output of floats."""
    both = isinstance(y, np.ndarray) and isinstance(got, np.ndarray)
    return both and y.dtype.kind in "iu" and got.dtype.kind == "f"


def _dequantized(x, grid, dtype):
    """Return the floats of integers; what is not quantized as it is."""
    if grid is None or x.dtype.kind not in "iu" or np.dtype(dtype).kind != "f":
        return x
    scale, zero_point = grid
    return np.asarray((x.astype(np.float64) - zero_point) * scale).astype(dtype)


def _as(name, array, got):
    """An array as the model gives it: rows of numbers as maps, with the keys of the model's."""
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
    found = [dict(zip(m, row.tolist(), strict=True)) for m, row in zip(maps, rows, strict=True)]
    return found[0] if isinstance(got, dict) else found


def _is_float16(value):
    return isinstance(value, np.ndarray) and value.dtype == np.float16


def _other_classes(name, wanted, got):
    """A text for an output whose best scores are those of other classes."""
    if not has_scores(wanted) or wanted.shape != got.shape:
        return []
    rows = [y.astype(np.float64).reshape(-1, y.shape[-1]) for y in (wanted, got)]
    right, found = (row.argmax(-1) for row in rows)
    # Not where the two classes have equal scores there: either may come first.
    best = np.take_along_axis(rows[0], right[:, None], -1)
    chosen = np.take_along_axis(rows[0], found[:, None], -1)
    k = np.flatnonzero((right != found) & (best != chosen)[:, 0])
    if not k.size:
        return []
    first = f"{found[k[0]]} instead of {right[k[0]]}"
    more = f" and {k.size - 1} more rows" if k.size > 1 else ""
    return [f"{name} has another class: {first}{more}"]
