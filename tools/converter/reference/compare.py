"""Compare outputs with the reference's, and with the error that the options promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .tolerance import RELATIVE, is_float, largest_of
from .vector import Vector

_SLACK = 1.0 + 1e-6  # factor of bounds: a difference of floats is rounded too


@dataclass(frozen=True)
class Difference:
    """The difference of one output from the reference's output.

    Attributes:
        name: name of the output.
        error: the largest difference, infinite if the values cannot be compared.
        largest: largest magnitude in the reference.
        bound: largest error that is right.
        n: number of values.
        is_float: True for floats and maps.
        why: reason why the values cannot be compared, "" if they can.
    """

    name: str
    error: float
    largest: float
    bound: float
    n: int
    is_float: bool
    why: str = ""

    @property
    def is_right(self) -> bool:
        """Return True if the error is within the bound that the options promise."""
        return not self.why and self.error <= self.bound * _SLACK

    @property
    def relative(self) -> float:
        """Return the error relative to the largest magnitude, the error itself if that is 0."""
        return self.error / (self.largest or 1.0)

    @property
    def relative_bound(self) -> float:
        """Return the bound relative to the largest magnitude."""
        return self.bound / (self.largest or 1.0)

    def __str__(self) -> str:
        if self.why:
            return f"output {self.name}: {self.why}"
        if self.is_float:
            return (
                f"output {self.name} is {self.relative:.2g} of its largest value off, "
                f"at most {self.relative_bound:.2g} is right"
            )
        return f"output {self.name} is {self.error:g} off, at most {self.bound:g} is right"


def differences(vector: Vector, outputs: Sequence) -> list[Difference]:
    """Return a Difference for each output, compared with the outputs of a golden vector."""
    return [
        difference(name, value, got, bound)
        for (name, value), got, bound in zip(vector.outputs, outputs, vector.bounds, strict=True)
    ]


def difference(name: str, expected: object, got: object, bound: float) -> Difference:
    """Compare an output with the reference.

    Args:
        name: name of the output.
        expected: array, map or maps of the reference.
        got: array, map or maps of the board or the file.
        bound: largest error that is right.
    """
    about = (largest_of(expected), bound, np.size(expected), is_float(expected))
    if isinstance(expected, np.ndarray):
        if np.shape(got) != expected.shape and not _is_nothing_collected(got, expected):
            why = f"its shape is {list(np.shape(got))}, not {list(expected.shape)}"
            return Difference(name, np.inf, *about, why)
        if expected.dtype.kind in "OUS":
            n = int((got.astype(object) != expected.astype(object)).sum())
            return Difference(name, 0.0, *about, f"{n} strings are other ones" if n else "")
        error = 0.0 if expected.size == 0 else apart(got, expected)
        return Difference(
            name, error, *about, _not_finite(got, expected) if error == np.inf else ""
        )
    error = _maps_apart(got, [expected] if isinstance(expected, dict) else expected)
    return Difference(name, error, *about, "maps of other keys" if error == np.inf else "")


def _is_nothing_collected(got, expected):
    """Return True for the stack of a Loop without trips: no element, whatever its shape.

    onnxruntime then returns shape [0], unless the file declares an element's shape.
    """
    return expected.shape == (0,) and np.shape(got)[:1] == (0,)


def _not_finite(got, expected):
    """Return a text if values are finite in one array only, or infinities differ; else ""."""
    indexes = np.argwhere(distances(np.asarray(got), expected) == np.inf)
    first = tuple(indexes[0])
    what = "a value is" if len(indexes) == 1 else f"{len(indexes)} values are"
    return (
        f"{what} finite in one and not in the other, or infinities differ: "
        f"first {got[first]} for {expected[first]} at {[int(i) for i in first]}"
    )


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the differences of two arrays, infinite where only one has a NaN."""
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        exact = object if max(a.dtype.itemsize, b.dtype.itemsize) == 8 else np.int64
        return np.asarray(abs(a.astype(exact) - b.astype(exact)))  # of scalars, objects are ints
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(error), np.inf, error)


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two arrays."""
    return float(distances(a, b).max(initial=0))


def _maps_apart(got, expected):
    """Return the largest difference of values, infinite if keys, strings or map counts differ."""
    if [sorted(m, key=repr) for m in got] != [sorted(m, key=repr) for m in expected]:
        return np.inf
    pairs = [(m[key], w[key]) for m, w in zip(got, expected, strict=True) for key in w]
    if any(isinstance(b, str) for _, b in pairs):
        return 0.0 if all(a == b for a, b in pairs) else np.inf
    return (
        apart(*(np.array(side, np.float64) for side in zip(*pairs, strict=True))) if pairs else 0.0
    )


def error_of(results: Sequence[Difference]) -> float | None:
    """Return the largest relative error of float outputs.

    Returns None without float outputs, or if values cannot be compared.
    """
    error = max((d.relative for d in results if d.is_float), default=None)
    return error if error is None or np.isfinite(error) else None


def text_of(results: Sequence[Difference]) -> str:
    """Return one line on how far outputs are off."""
    floats = [d for d in results if d.is_float and not d.why]
    others = [d for d in results if not d.is_float and not d.why]
    parts = [str(d) for d in results if d.why]
    if floats:
        parts.append(_text_of_floats(max(floats, key=lambda d: d.relative)))
    if others:
        n = sum(d.n for d in others)
        worst = max(others, key=lambda d: d.error)
        if worst.error:
            steps = "a step" if worst.error == 1 else f"{worst.error:g}"
            text = f"{n:,} integers at most {steps} off ({worst.bound:g} is promised)"
        else:
            kind = "other values" if floats else "values"
            text = f"all {n:,} {kind} equal" if n > 1 else f"the {kind.removesuffix('s')} is equal"
        parts.append(text)
    return ", ".join(parts) or "there are no outputs"


def _text_of_floats(worst):
    if not worst.error:
        return "no error"
    if not worst.largest:
        return f"error {worst.error:.1e} where all finite values are 0"
    text = f"error {worst.relative:.1e} of the largest value"
    if worst.relative > RELATIVE:
        text += f" ({worst.relative_bound:.1e} is promised)"
    return text
