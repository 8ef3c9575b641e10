"""How far outputs are from the reference's, and whether that is what the options promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .tolerance import RELATIVE, is_float, largest_of
from .vector import Vector

_SLACK = 1.0 + 1e-6  # of bounds: a difference of floats is rounded, too


@dataclass(frozen=True)
class Difference:
    """Of one output. error: the largest one, infinite where the values cannot be compared;
    largest: magnitude in the reference; bound: of errors that are right; n: number of values.
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
        """True if the error is within what the options promise."""
        return not self.why and self.error <= self.bound * _SLACK

    @property
    def relative(self) -> float:
        """The error as a part of the largest magnitude; itself where that is 0."""
        return self.error / (self.largest or 1.0)

    @property
    def relative_bound(self) -> float:
        """The bound likewise."""
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
    """Return for each output how far it is from that of a vector."""
    return [
        difference(name, value, got, bound)
        for (name, value), got, bound in zip(vector.outputs, outputs, vector.bounds, strict=True)
    ]


def difference(name: str, wanted: object, got: object, bound: float) -> Difference:
    """Return how far an output is from what is wanted of it."""
    about = (largest_of(wanted), bound, np.size(wanted), is_float(wanted))
    if isinstance(wanted, np.ndarray):
        if np.shape(got) != wanted.shape and not _is_nothing_collected(got, wanted):
            why = f"its shape is {list(np.shape(got))}, not {list(wanted.shape)}"
            return Difference(name, np.inf, *about, why)
        if wanted.dtype.kind in "OUS":
            n = int((got.astype(object) != wanted.astype(object)).sum())
            return Difference(name, 0.0, *about, f"{n} strings are other ones" if n else "")
        error = 0.0 if wanted.size == 0 else apart(got, wanted)
        return Difference(name, error, *about, _not_finite(got, wanted) if error == np.inf else "")
    error = _maps_apart(got, [wanted] if isinstance(wanted, dict) else wanted)
    return Difference(name, error, *about, "maps of other keys" if error == np.inf else "")


def _is_nothing_collected(got, wanted):
    """Return True for what a Loop without rounds collects: no element, whatever its shape.

    onnxruntime then gives [0], unless the file declares an element's shape.
    """
    return wanted.shape == (0,) and np.shape(got)[:1] == (0,)


def _not_finite(got, wanted):
    """Say where one of two arrays alone is NaN or infinite, or they have other infinities."""
    places = np.argwhere(distances(np.asarray(got), wanted) == np.inf)
    first = tuple(places[0])
    what = "a value is" if len(places) == 1 else f"{len(places)} values are"
    return (
        f"{what} finite in one and not in the other, or infinities differ: "
        f"first {got[first]} for {wanted[first]} at {[int(i) for i in first]}"
    )


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the differences of two arrays; infinite where one alone is not a number."""
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        exact = object if max(a.dtype.itemsize, b.dtype.itemsize) == 8 else np.int64
        return np.asarray(abs(a.astype(exact) - b.astype(exact)))  # of scalars, objects are ints
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(error), np.inf, error)


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest of these differences."""
    return float(distances(a, b).max(initial=0))


def _maps_apart(got, wanted):
    """The largest difference of values; infinite for other keys, strings or numbers of maps."""
    if [sorted(m, key=repr) for m in got] != [sorted(m, key=repr) for m in wanted]:
        return np.inf
    pairs = [(m[key], w[key]) for m, w in zip(got, wanted, strict=True) for key in w]
    if any(isinstance(b, str) for _, b in pairs):
        return 0.0 if all(a == b for a, b in pairs) else np.inf
    return (
        apart(*(np.array(side, np.float64) for side in zip(*pairs, strict=True))) if pairs else 0.0
    )


def error_of(found: Sequence[Difference]) -> float | None:
    """Return the largest relative error of outputs of floats.

    None if there are none, or if values cannot be compared.
    """
    error = max((d.relative for d in found if d.is_float), default=None)
    return error if error is None or np.isfinite(error) else None


def text_of(found: Sequence[Difference]) -> str:
    """Return one line that says how far outputs are off."""
    floats = [d for d in found if d.is_float and not d.why]
    others = [d for d in found if not d.is_float and not d.why]
    parts = [str(d) for d in found if d.why]
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
