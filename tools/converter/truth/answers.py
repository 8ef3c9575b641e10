"""Compare what a model answers with what is true: classes, or values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UsageError

_HALF = 0.5  # a probability from which on a model with one output answers class 1


@dataclass(frozen=True)
class Answers:
    """What a model answers, beside what is true.

    Attributes:
        are_classes: classes, not values.
        truth: the true class of each sample, or its true values as a row of float64.
        predicted: the same of the model. Where scores hold NaN, the class means nothing.
        has_nan: for each sample, whether the model gives NaN (or infinity, where values are due).
        scores: a row of scores for each sample, if the model gives scores.
        threshold: the value above which a model with one output answers class 1; else None.
    """

    are_classes: bool
    truth: np.ndarray
    predicted: np.ndarray
    has_nan: np.ndarray
    scores: np.ndarray | None = None
    threshold: float | None = None

    @property
    def is_right(self) -> np.ndarray:
        """For each sample, whether its class is right; NaN is wrong."""
        return (self.predicted == self.truth) & ~self.has_nan

    @property
    def accuracy(self) -> float | None:
        """Share of samples whose class is right; None for values."""
        return float(np.mean(self.is_right)) if self.are_classes else None

    @property
    def mean_absolute_error(self) -> float | None:
        """That of all samples without NaN; None for classes, or without such samples."""
        if self.are_classes or self.has_nan.all():
            return None
        return float(np.abs(self.predicted - self.truth)[~self.has_nan].mean())

    @property
    def r2(self) -> float | None:
        """Coefficient of determination, the mean of all outputs that vary; None without any."""
        if self.are_classes or self.has_nan.all():
            return None
        truth, predicted = self.truth[~self.has_nan], self.predicted[~self.has_nan]
        total = np.square(truth - truth.mean(axis=0)).sum(axis=0)
        varies = total > 0
        if not varies.any():
            return None
        rest = np.square(predicted - truth).sum(axis=0)
        return float(np.mean(1 - rest[varies] / total[varies]))

    def text(self) -> str:
        """Return 'top-1 96.0%', or 'mean absolute error 0.03, R² 0.98'."""
        if self.are_classes:
            return f"top-1 {self.accuracy:.1%}"
        error, r2 = self.mean_absolute_error, self.r2
        if error is None:
            return "NaN for every sample"
        r2_text = "undefined: the true values do not vary" if r2 is None else f"{r2:.4f}"
        return f"mean absolute error {error:.4g}, R² {r2_text}"


def answers_of(outputs: np.ndarray, truth: np.ndarray, threshold: float | None = None) -> Answers:
    """Compare a model's outputs with what is true.

    True classes are integers or strings; floats are true values, unless the model gives a row of
    scores for each. Rows with a single 1 among zeros are classes, too.

    Args:
        outputs: for each sample a row of scores or values, one value, or its class.
        truth: for each sample its class, its value or values.
        threshold: the value above which one output means class 1; None for 0.5 where all outputs
            lie between 0 and 1, else 0.

    Raises:
        UsageError: if outputs and truth do not belong together.
    """
    outputs = np.asarray(outputs)
    if not len(truth) or len(outputs) != len(truth):
        raise UsageError(f"{len(outputs)} outputs, but {len(truth)} true values")
    if outputs.dtype.kind in "OUS" or (outputs.size == len(truth) and _are_classes(outputs)):
        return _of_classes(outputs.reshape(len(truth), -1), truth)
    rows = outputs.reshape(len(truth), -1).astype(np.float64)
    values = truth.reshape(len(truth), -1)
    if values.dtype.kind in "US":
        raise UsageError("the true classes are text: labels are needed that say which is which")
    n_scores = rows.shape[1]
    classes = _classes_in(values, n_scores)
    if classes is None and values.shape[1] != n_scores:
        raise UsageError(
            f"the model gives {n_scores} values a sample, but {values.shape[1]} are true"
        )
    if classes is None:
        finite = np.isfinite(rows).all(axis=1)
        return Answers(False, values.astype(np.float64), rows, ~finite)
    has_nan = np.isnan(rows).any(axis=1)
    if n_scores == 1:
        if threshold is None:
            known = rows[~has_nan]
            threshold = _HALF if ((known >= 0) & (known <= 1)).all() else 0.0
        predicted = (rows[:, 0] > threshold).astype(np.int64)
        return Answers(True, classes, predicted, has_nan, rows, threshold)
    outside = np.flatnonzero((classes < 0) | (classes >= n_scores))
    if outside.size:
        i = int(outside[0])
        raise UsageError(
            f"true class {classes[i]} of sample {i}: the model has the classes 0 to {n_scores - 1}"
        )
    return Answers(True, classes, rows.argmax(axis=1), has_nan, rows)


def _are_classes(outputs):
    """Return True for integers that are no quantized values."""
    return outputs.dtype.kind in "iu" and outputs.dtype.itemsize >= 4


def _of_classes(rows, truth):
    """Return the answers of a model that gives classes itself, as scikit-learn's do."""
    if rows.shape[1] != 1 or truth.ndim != 1:
        raise UsageError("the model gives several classes a sample: one is needed")
    predicted = rows[:, 0]
    if (predicted.dtype.kind in "OUS") != (truth.dtype.kind in "US"):
        kinds = ("text", "numbers") if predicted.dtype.kind in "OUS" else ("numbers", "text")
        raise UsageError("the model's classes are {}, the true ones are {}".format(*kinds))
    predicted = predicted.astype(str) if predicted.dtype.kind in "OUS" else predicted
    return Answers(True, truth.astype(predicted.dtype), predicted, np.zeros(len(truth), bool))


def _classes_in(values, n_scores):
    """Return the true classes in rows of numbers; None if they are values."""
    if n_scores > 1 and values.shape[1] == n_scores:  # one-hot
        is_one_hot = ((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all()
        return values.argmax(axis=1) if is_one_hot else None
    if values.shape[1] != 1:
        return None
    column = values[:, 0]
    is_whole = column.dtype.kind in "iu" or bool((column == np.round(column)).all())
    if n_scores > 1:
        return column.astype(np.int64) if is_whole else None
    are_two = column.dtype.kind in "iu" and set(np.unique(column)) <= {0, 1}
    return column.astype(np.int64) if are_two else None


def output_of(outputs: Sequence, truth: np.ndarray) -> int:
    """Return the index of the output that is to be compared with what is true.

    That is the first row of scores for true classes, else the first class, else the first output
    with as many values as are true.

    Args:
        outputs: those of one sample; a list of maps for a ZipMap.
        truth: what is true of all samples.

    Raises:
        UsageError: if there is none.
    """
    n = truth[0].size if truth.ndim > 1 else 1
    may_be_classes = n == 1
    rules = [is_row, _is_map, _is_class] if may_be_classes else []
    if truth.dtype.kind in "US":
        rules = [_is_text, *rules]
    if truth.dtype.kind == "f":
        rules = [lambda y: _is_number(y) and y.size == n, *rules]
    rules.append(lambda y: _is_number(y) and y.size == n)
    for rule in rules:
        for i, y in enumerate(outputs):
            if rule(y):
                return i
    shapes = ", ".join(str(list(np.shape(y))) for y in outputs)
    raise UsageError(f"no output of the model (of shapes {shapes}) has {n} values a sample")


def _is_number(y):
    return isinstance(y, np.ndarray) and y.dtype.kind in "fiu" and y.dtype != np.int64


def is_row(y: np.ndarray | list) -> bool:
    """Return True for one row of numbers that are no classes."""
    return _is_number(y) and y.ndim > 0 and 2 <= y.size == y.shape[-1]


def _is_map(y):
    return isinstance(y, list)


def _is_class(y):
    return isinstance(y, np.ndarray) and y.dtype == np.int64 and y.size == 1


def _is_text(y):
    return isinstance(y, np.ndarray) and y.dtype.kind in "OUS" and y.size == 1


def stacked(values: Sequence[np.ndarray | list]) -> np.ndarray:
    """Return one output of all samples as an array.

    Maps become rows of scores if their keys are 0, 1, 2 and so on, else the likeliest key.

    Args:
        values: the output of each sample, an array or a list of one map.

    Raises:
        UsageError: if the samples' outputs have different shapes.
    """
    if isinstance(values[0], list):
        maps = [one for value in values for one in value]
        if all(list(one) == list(range(len(one))) for one in maps):
            return np.array([list(one.values()) for one in maps])
        return np.array([max(one, key=one.get) for one in maps])
    if len({np.shape(y) for y in values}) != 1:
        raise UsageError("the outputs of the samples have different shapes")
    return np.stack(values)
