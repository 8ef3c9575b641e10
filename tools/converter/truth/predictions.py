"""Gather what a model gives for each sample: its own classes, and scores or values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UsageError

Output = np.ndarray | list  # a list of maps for a ZipMap


@dataclass(frozen=True)
class Predictions:
    """What a model gives for each sample.

    Attributes:
        classes: the class that the model itself names, as scikit-learn's classifiers do, or the
            likeliest key of its map; None without these.
        scores: a row of scores or values for each sample, if the model gives such.
        keys: the class of each column of the scores, where a ZipMap says it.
    """

    classes: np.ndarray | None
    scores: np.ndarray | None
    keys: np.ndarray | None = None

    def __len__(self) -> int:
        values = self.scores if self.classes is None else self.classes
        return 0 if values is None else len(values)


def predictions_of(outputs: Iterable[Sequence[Output]], truth: np.ndarray) -> Predictions:
    """Gather those outputs that are to be compared with what is true.

    These are the class that the model names and the first row of scores or map; for values, the
    first output with as many as are true.

    Args:
        outputs: the outputs of each sample.
        truth: what is true of all samples.

    Raises:
        UsageError: if the model has no such outputs.
    """
    named: list[Output] = []
    scored: list[Output] = []
    for number, sample in enumerate(outputs):
        if not number:
            chosen = _chosen(sample, truth)
        for i, values in zip(chosen, (named, scored), strict=True):
            if i is not None:
                values.append(sample[i])
    classes = _plain(_stacked(named).ravel()) if named else None
    if not scored:
        return Predictions(classes, None)
    if _is_map(scored[0]):
        return _of_maps([one for value in scored for one in value], classes)
    result = predictions_in(_stacked(scored))
    return result if classes is None else Predictions(classes, result.scores)


def _chosen(first, truth):
    """Return the indices of the output of classes and of that of scores or values, or None."""
    n = truth[0].size if truth.ndim > 1 else 1
    i = _first(first, lambda y: _is_number(y) and y.size == n)
    if i is not None and n == 1 and truth.dtype.kind == "f":
        return None, i
    kinds = (_is_text, _is_class) if truth.dtype.kind in "US" else (_is_class, _is_text)
    named = next((k for k in (_first(first, kind) for kind in kinds) if k is not None), None)
    if n == 1:
        scored = _first(first, _is_row, _is_map)
        i = i if named is None and scored is None else scored
    elif i is None:
        i = _first(first, lambda y: _is_map(y) and len(y[0]) == n)
    if i is None and (named is None or n > 1):
        shapes = ", ".join(str(list(np.shape(y))) for y in first)
        raise UsageError(f"no output of the model (of shapes {shapes}) has {n} values a sample")
    return named, i


def predictions_in(outputs: np.ndarray) -> Predictions:
    """Return the predictions in one array of all samples: classes, or rows of scores or values.

    Raises:
        UsageError: if there are several texts a sample.
    """
    n = len(outputs)
    is_any_text = outputs.dtype.kind in "OUS"
    if is_any_text and outputs.size != n:
        raise UsageError("the model gives several classes a sample: one is needed")
    # Integers of few bits are quantized values.
    are_integers = outputs.dtype.kind in "iu" and outputs.dtype.itemsize >= 4
    if is_any_text or (are_integers and outputs.size == n):
        return Predictions(_plain(outputs.ravel()), None)
    return Predictions(None, outputs.reshape(n, -1).astype(np.float64))


def _first(outputs, *rules):
    """Return the index of the first output for which the first of the rules holds that any has."""
    for rule in rules:
        for i, y in enumerate(outputs):
            if rule(y):
                return i
    return None


def _is_number(y):
    return isinstance(y, np.ndarray) and y.dtype.kind in "fiu" and y.dtype != np.int64


def _is_row(y):
    """Return True for one row of numbers that are no classes."""
    return _is_number(y) and y.ndim > 0 and 2 <= y.size == y.shape[-1]


def _is_map(y):
    return isinstance(y, list) and bool(y) and isinstance(y[0], Mapping)


def _is_class(y):
    return isinstance(y, np.ndarray) and y.dtype == np.int64 and y.size == 1


def _is_text(y):
    """Return True for one text."""
    return isinstance(y, np.ndarray) and y.dtype.kind in "OUS" and y.size == 1


def _of_maps(maps, classes):
    """Return the predictions in maps from classes to scores."""
    keys = list(maps[0])
    if classes is None:
        classes = _plain(np.array([max(one, key=one.get) for one in maps]))
    if any(one.keys() != maps[0].keys() for one in maps):
        return Predictions(classes, None)
    scores = np.array([[one[key] for key in keys] for one in maps], np.float64)
    return Predictions(classes, scores, _plain(np.array(keys)))


def _stacked(values):
    if len({np.shape(y) for y in values}) != 1:
        raise UsageError("the outputs of the samples have different shapes")
    return np.stack(values)


def _plain(classes):
    """Return classes as text of NumPy's own dtype, or as they are."""
    return classes.astype(str) if classes.dtype.kind in "OUS" else classes
