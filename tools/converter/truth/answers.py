"""Compare what a model answers with what is true: classes, or values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from .predictions import Predictions, predictions_in

_HALF = 0.5  # a probability from which on a model with one output answers class 1


@dataclass(frozen=True)
class Answers:
    """What a model answers, beside what is true.

    Attributes:
        are_classes: classes, not values.
        truth: the true class of each sample, or its true values as a row of float64.
        predicted: the same of the model; if it names a class itself, that one, not the largest
            score. Where scores hold NaN, the class means nothing.
        has_nan: for each sample, whether the model gives NaN (or infinity, where values are due).
        scores: a row of scores for each sample, if the model gives scores.
        columns: the class of each column of the scores; None if that is not known.
        threshold: the value above which a model with one output answers class 1; else None.
    """

    are_classes: bool
    truth: np.ndarray
    predicted: np.ndarray
    has_nan: np.ndarray
    scores: np.ndarray | None = None
    columns: np.ndarray | None = None
    threshold: float | None = None

    @property
    def is_right(self) -> np.ndarray:
        """For each sample, whether its class is right; NaN is wrong."""
        return (self.predicted == self.truth) & ~self.has_nan

    def scores_of(self, classes: np.ndarray) -> np.ndarray:
        """Return each sample's score of its class among these; NaN where there is none."""
        if (
            self.scores is None
            or self.columns is None
            or self.scores.shape[1] != len(self.columns)
        ):
            return np.full(len(classes), np.nan)
        column_of = {one: i for i, one in enumerate(self.columns.tolist())}
        columns = [column_of.get(one) for one in classes.tolist()]
        rows = zip(self.scores, columns, strict=True)
        return np.array([np.nan if i is None else row[i] for row, i in rows])

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


def answers_of(
    outputs: np.ndarray | Predictions,
    truth: np.ndarray,
    threshold: float | None = None,
    names: Sequence[str] = (),
) -> Answers:
    """Compare a model's outputs with what is true.

    True classes are integers or strings; floats are true values, unless the model gives a row of
    scores for each. Rows with a single 1 among zeros are classes, too. Numbers count in the order
    of the scores where they are none of the classes that the model itself names.

    Args:
        outputs: for each sample a row of scores or values, one value, or its class.
        truth: for each sample its class, its value or values.
        threshold: the value above which one output means class 1; None for 0.5 where all outputs
            lie between 0 and 1, else 0.
        names: the classes in the order of the scores; needed if only one of the truth and the
            model's own classes is text.

    Raises:
        UsageError: if outputs and truth do not belong together.
    """
    if not len(truth) or len(outputs) != len(truth):
        raise UsageError(f"{len(outputs)} outputs, but {len(truth)} true values")
    predictions = (
        outputs if isinstance(outputs, Predictions) else predictions_in(np.asarray(outputs))
    )
    values = truth.reshape(len(truth), -1)
    values = values.astype({"b": np.int64, "S": str}.get(values.dtype.kind, values.dtype))
    if predictions.classes is not None:
        answers = _of_named_classes(predictions, values, names)
        if answers is not None:
            return answers
    return _of_scores(predictions, values, threshold, names)


def _of_named_classes(predictions, values, names):
    """Return the answers of a model that names classes itself; None if the truth are values."""
    own = predictions.classes
    n_scores = 0 if predictions.scores is None else predictions.scores.shape[1]
    classes = values[:, 0] if _is_text(values) else _classes_in(values, max(n_scores, 2))
    if classes is None and not _is_text(own):
        return None
    if classes is None or (_is_text(values) and values.shape[1] > 1):
        raise UsageError("the model answers a class a sample, but the true values are no classes")
    are_alike = values.shape[1] == 1 and _is_text(values) == _is_text(own)
    columns = _columns(predictions, names, classes if are_alike else own)
    if not are_alike:
        if columns is None and not _is_text(own):
            if n_scores:
                return None  # by the largest score
            columns = np.arange(max(len(names), values.shape[1]))
        if columns is None or (_is_text(values) and not names):
            raise UsageError(_kinds_differ(own, values))
        classes = _in_columns(_numbers_of(classes, names), columns)
    elif _are_numbers_of(columns, classes):
        classes = columns[classes]
    has_nan = np.zeros(len(own), bool)
    if n_scores:
        has_nan = np.isnan(predictions.scores).any(axis=1)
    return Answers(True, classes, own, has_nan, predictions.scores, columns)


def _is_text(classes):
    return classes.dtype.kind in "US"


def _kinds_differ(own, truth):
    kinds = ("text", "numbers") if _is_text(own) else ("numbers", "text")
    return (
        "the model's classes are {}, the true ones are {}: name the classes in the order of the "
        "scores by --labels-file NAMES.txt (in Python, labels=[...])".format(*kinds)
    )


def _columns(predictions, names, truth):
    """Return the class of each column of the scores; None if that cannot be told.

    The classes of scikit-learn are in the order of the scores, but need not be 0, 1, 2 and so on.
    So an order is taken if most of the largest scores agree with it, or if there are two classes:
    scores of a binary SVC are exported in the wrong order.
    """
    if predictions.keys is not None:
        return predictions.keys
    own = predictions.classes
    if _is_text(own) and names and set(own.tolist()) <= set(names):
        return np.array(names)
    n = 0 if predictions.scores is None else predictions.scores.shape[1]
    if n < 2:
        return None
    seen = [np.unique(own), np.unique(np.concatenate([own, truth]))]
    seen = [one for one in seen if len(one) == n]
    for order in seen if _is_text(own) else [np.arange(n), *seen]:
        if (order[predictions.scores.argmax(axis=1)] == own).mean() > _HALF:
            return order
    return seen[0] if n == 2 and seen else None


def _are_numbers_of(columns, classes):
    """Return True for true classes that count columns, and are none of the columns' classes."""
    if columns is None or _is_text(columns) or np.isin(classes, columns).all():
        return False
    return bool(((classes >= 0) & (classes < len(columns))).all())


def _numbers_of(truth, names):
    """Return numbers of classes that are named; numbers as they are."""
    if not _is_text(truth):
        return truth
    numbers = {name: i for i, name in enumerate(names)}
    unknown = sorted(set(truth.tolist()) - set(numbers))
    if unknown:
        raise UsageError(f"the true class {unknown[0]} is none of the labels {', '.join(names)}")
    return np.array([numbers[name] for name in truth.tolist()])


def _in_columns(numbers, columns):
    """Return the classes of columns; raise UsageError if there are fewer."""
    outside = np.flatnonzero((numbers < 0) | (numbers >= len(columns)))
    if outside.size:
        i = int(outside[0])
        raise UsageError(
            f"true class {numbers[i]} of sample {i}: the model has the classes 0 to "
            f"{len(columns) - 1}"
        )
    return columns[numbers]


def _of_scores(predictions, values, threshold, names):
    """Return the answers of a model that gives only scores or values."""
    rows = predictions.scores
    if rows is None:  # integers that are values
        rows = predictions.classes.astype(np.float64).reshape(len(values), -1)
    n_scores = rows.shape[1]
    has_nan = np.isnan(rows).any(axis=1)
    if _is_text(values):
        if not names:
            raise UsageError(_kinds_differ(rows, values))
        values = _numbers_of(values.ravel(), names).reshape(values.shape)
    classes = _classes_in(values, n_scores)
    if classes is None and values.shape[1] != n_scores:
        raise UsageError(
            f"the model gives {n_scores} values a sample, but {values.shape[1]} are true"
        )
    if classes is None:
        finite = np.isfinite(rows).all(axis=1)
        return Answers(False, values.astype(np.float64), rows, ~finite)
    if n_scores == 1:
        if threshold is None:
            known = rows[~has_nan]
            threshold = _HALF if ((known >= 0) & (known <= 1)).all() else 0.0
        predicted = (rows[:, 0] > threshold).astype(np.int64)
        return Answers(True, classes, predicted, has_nan, rows, threshold=threshold)
    columns = np.arange(n_scores)
    classes = _in_columns(classes, columns)
    return Answers(True, classes, rows.argmax(axis=1), has_nan, rows, columns)


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
