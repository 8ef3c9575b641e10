"""Compute what there is to know of a model's answers: a typed result, and its text."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tools.converter.truth import Answers, Predictions, answers_of
from tools.errors import UsageError
from tools.limits import printable

_WORST = 10  # samples
_MOST_CLASSES = 20  # in a matrix; of more classes the frequent errors are listed
_MOST_LISTED = 20  # errors, and classes


@dataclass(frozen=True)
class ClassFigures:
    """Figures of one class.

    Attributes:
        label: its name, or its number as text.
        count: samples of this class.
        precision: share of the answers of this class that are right; None without such answers.
        recall: share of its samples that are answered right; None without samples.
    """

    label: str
    count: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class WorstSample:
    """A sample with a wrong class, or with a large error.

    Attributes:
        index: in the data, from 0.
        truth: label of the true class, or the true value.
        answer: the same of the model; "NaN" for scores that hold NaN.
        score: that of the answer, or the largest absolute error of the sample's values; None if
            the model gives no scores, or names none of their classes.
    """

    index: int
    truth: str
    answer: str
    score: float | None


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A model's answers beside what is true.

    Attributes:
        count: number of samples.
        accuracy: share of right classes; None for values.
        confusion: [true class, answered class] number of samples; None for values. Samples whose
            scores hold NaN are in no column. A model's own classes are in ascending order.
        per_class: figures of each class, in the order of `confusion`.
        worst: the wrong answers that are surest, or the largest errors.
        mean_absolute_error: that of values; None for classes.
        r2: coefficient of determination of values; None for classes, and if they do not vary.
        nan_count: samples for which the model gives NaN; they count as wrong.
        threshold: the value above which a model with one output answers class 1, else None.
        notes: what limits the meaning of the figures.
        answers: the answer to each sample.
    """

    count: int
    accuracy: float | None
    confusion: np.ndarray | None
    per_class: list[ClassFigures]
    worst: list[WorstSample]
    mean_absolute_error: float | None
    r2: float | None
    nan_count: int
    threshold: float | None
    notes: list[str]
    answers: Answers

    def __repr__(self) -> str:
        return f"<Evaluation: {self.headline()}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Return the headline, the notes and small tables, for notebooks."""
        lines = [self.headline(), *(f"note: {note}" for note in self.notes)]
        parts = [f"<p>{html.escape(line)}</p>" for line in lines]
        if self.confusion is not None:
            parts += [_html(_class_rows(self)), _html(_confusion_rows(self))]
        return "\n".join(parts)

    def headline(self) -> str:
        """Return one line: 'top-1 96.0% of 450 samples'."""
        return f"{self.answers.text()} of {self.count:,} sample{'s' * (self.count > 1)}"

    def text(self) -> str:
        """Return all figures as text."""
        parts = [self.headline(), *(f"note: {note}" for note in self.notes)]
        if self.confusion is not None:
            parts += ["", *_classes_text(self), "", *_aligned(_confusion_rows(self))]
        if self.worst:
            parts += ["", *_worst_text(self)]
        return "\n".join(parts)

    def report(self) -> dict[str, Any]:
        """Return all figures for JSON."""
        return {
            "samples": self.count,
            "accuracy": self.accuracy,
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "per_class": [asdict(one) for one in self.per_class],
            "worst": [asdict(one) for one in self.worst],
            "mean_absolute_error": self.mean_absolute_error,
            "r2": self.r2,
            "nan": self.nan_count,
            "threshold": self.threshold,
            "notes": self.notes,
        }


def evaluate(
    predict: Callable[[Any], np.ndarray | Predictions],
    x: Any,
    y: np.ndarray,
    labels: Sequence[str] | None = None,
    worst: int = _WORST,
    threshold: float | None = None,
) -> Evaluation:
    """Compare what a model predicts with what is true.

    Args:
        predict: function of all samples; returns for each a row of scores, one value or several,
            or its class; or Predictions.
        x: the samples, as predict takes them.
        y: for each sample its class (an integer or a label), or its value or values (floats).
        labels: names of the classes.
        worst: most samples in `Evaluation.worst`.
        threshold: the value above which one output means class 1; see Answers.

    Raises:
        UsageError: if outputs, truth and labels do not belong together.
    """
    truth = np.asarray(y)
    answers = answers_of(predict(x), truth, threshold, labels or ())
    if not answers.are_classes:
        return _evaluation(answers, None, [], _largest_errors(answers, worst), _notes(answers))
    classes, names = _classes(answers, labels)
    confusion = _confusion(answers, classes)
    per_class = [
        _figures(confusion, i, names[i], int((answers.truth == one).sum()))
        for i, one in enumerate(classes)
    ]
    return _evaluation(
        answers,
        confusion,
        per_class,
        _surest_errors(answers, classes, names, worst),
        _notes(answers),
    )


def _evaluation(answers, confusion, per_class, worst, notes):
    return Evaluation(
        count=len(answers.truth),
        accuracy=answers.accuracy,
        confusion=confusion,
        per_class=per_class,
        worst=worst,
        mean_absolute_error=answers.mean_absolute_error,
        r2=answers.r2,
        nan_count=int(answers.has_nan.sum()),
        threshold=answers.threshold,
        notes=notes,
        answers=answers,
    )


def _classes(answers, labels):
    """Return all classes, and their names."""
    columns = np.arange(2) if answers.threshold is not None else answers.columns
    known = [] if columns is None else [columns]
    classes = np.unique(np.concatenate([answers.truth, answers.predicted, *known]))
    names = {}
    if labels and classes.dtype.kind not in "US":
        if answers.scores is None:
            names = dict(enumerate(labels))
        elif columns is not None:
            if len(labels) != len(columns):
                raise UsageError(f"{len(labels)} labels, but the model has {len(columns)} classes")
            names = dict(zip(columns.tolist(), labels, strict=True))
    return classes, [names.get(one, str(one)) for one in classes.tolist()]


def _confusion(answers, classes):
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    rows, columns = (np.searchsorted(classes, x) for x in (answers.truth, answers.predicted))
    known = ~answers.has_nan
    np.add.at(confusion, (rows[known], columns[known]), 1)
    return confusion


def _figures(confusion, i, name, count):
    """Return the figures of a class; its samples with NaN are in no column, but in the count."""
    right = int(confusion[i, i])
    predicted = int(confusion[:, i].sum())
    return ClassFigures(
        name, count, right / predicted if predicted else None, right / count if count else None
    )


def _surest_errors(answers, classes, names, most):
    """Return the wrong answers, those first whose score differs most from that of the truth."""
    scores, margins = answers.scores_of(answers.predicted), answers.scores_of(answers.truth)
    if answers.threshold is not None:
        scores, margins = answers.scores[:, 0], answers.threshold
    with np.errstate(invalid="ignore"):  # infinite scores
        margins = np.abs(scores - margins)
    margins = np.where(answers.has_nan, np.inf, np.nan_to_num(margins, posinf=np.inf))
    wrong = np.flatnonzero(~answers.is_right)
    rows = []
    for i in wrong[np.argsort(-margins[wrong], kind="stable")][:most]:
        truth, answer = (
            names[int(np.searchsorted(classes, of[i]))]
            for of in (answers.truth, answers.predicted)
        )
        score = _finite(scores[i])
        if answers.has_nan[i]:
            answer, score = "NaN", None
        rows.append(WorstSample(int(i), truth, answer, score))
    return rows


def _largest_errors(answers, most):
    errors = np.abs(answers.predicted - answers.truth).max(axis=1)
    errors = np.where(answers.has_nan, np.inf, errors)
    rows = []
    for i in np.argsort(-errors, kind="stable")[:most]:
        texts = [_values_text(x[i]) for x in (answers.truth, answers.predicted)]
        error = _finite(errors[i])
        rows.append(WorstSample(int(i), *texts, error))
    return rows


def _finite(value):
    """Return a number that JSON can hold, else None."""
    return float(value) if np.isfinite(value) else None


def _values_text(values):
    shown = ", ".join(f"{v:.4g}" for v in values[:4])
    return shown + ", ..." * (len(values) > 4)


def _notes(answers):
    notes = []
    if n := int(answers.has_nan.sum()):
        what = "count as wrong" if answers.are_classes else "are in no figure"
        notes.append(f"the model gives NaN for {n:,} of the samples, which {what}")
    if answers.are_classes and answers.columns is not None:
        unknown = answers.truth[~np.isin(answers.truth, answers.columns)]
        if len(unknown):
            names = ", ".join(printable(str(one)) for one in np.unique(unknown)[:_MOST_LISTED])
            notes.append(
                f"{len(unknown):,} of the samples have classes that the model lacks: {names}"
            )
    if answers.threshold is not None:
        notes.append(f"class 1 is an output above {answers.threshold:g}")
    if answers.are_classes and len(np.unique(answers.truth)) == 1:
        notes.append("all samples have the same true class: the accuracy says little")
    return notes


def _share(value):
    return "-" if value is None else f"{value:.1%}"


def _class_rows(evaluation):
    """Return a table of classes: all of a few, of many those with the least recall."""
    rows = evaluation.per_class
    if len(rows) > _MOST_CLASSES:
        rows = sorted((one for one in rows if one.count), key=lambda one: one.recall)
    rows = rows[:_MOST_LISTED]
    table = [
        (printable(r.label), f"{r.count:,}", _share(r.precision), _share(r.recall)) for r in rows
    ]
    return [("class", "samples", "precision", "recall"), *table]


def _classes_text(evaluation):
    rows = _class_rows(evaluation)
    yield from _aligned(rows)
    if (hidden := len(evaluation.per_class) - len(rows) + 1) > 0:
        yield f"and {hidden:,} more classes with a better recall, or without samples"


def _confusion_rows(evaluation):
    """Return the confusion matrix of a few classes, of many a table of the frequent errors."""
    names = [printable(one.label) for one in evaluation.per_class]
    confusion = evaluation.confusion
    if len(names) <= _MOST_CLASSES:
        rows = [
            (name, *("." if not n else str(n) for n in row))
            for name, row in zip(names, confusion.tolist(), strict=True)
        ]
        return [("true \\ answer", *names), *rows]
    wrong = confusion - np.diag(np.diag(confusion))
    pairs = np.argwhere(wrong)
    order = np.argsort(-wrong[tuple(pairs.T)], kind="stable")[:_MOST_LISTED]
    rows = [(names[i], names[j], str(wrong[i, j])) for i, j in pairs[order]]
    return [("true", "answer", "samples"), *rows]


def _worst_text(evaluation):
    score = "score" if evaluation.answers.are_classes else "error"
    rows = [
        (
            f"{w.index}",
            printable(w.truth),
            printable(w.answer),
            "" if w.score is None else f"{w.score:.4g}",
        )
        for w in evaluation.worst
    ]
    yield from _aligned([("worst sample", "true", "answer", score), *rows])


def _html(rows):
    """Return a table, whose first row is its head."""
    cells = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    ]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def _aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
