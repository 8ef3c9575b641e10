"""Ways to quantize, tried until the accuracy holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx

from ..errors import UsageError
from ..reference.ort_session import open_session
from ..truth import Predictions, answers_of, predictions_of
from . import bias, qdq
from .data import Sample
from .equalize import equalize
from .layers import layers
from .ranges import ranges
from .settings import METHODS, Settings

_LOOKED_AT = 64  # samples that say which layers are worst
_LEFT_IN_FLOAT = (1, 2, 4, 8)  # of the worst layers, tried in this order


@dataclass(frozen=True)
class Attempt:
    """What one candidate achieved.

    Attributes:
        what: the settings in words.
        top1: share of the labelled samples that are right; without labels, of those that keep the
            float model's class; None if the model is no classifier.
        top1_float: the same of the float model; None without labels.
        exclude: nodes that it leaves in float.
    """

    what: str
    top1: float | None
    top1_float: float | None
    exclude: Sequence[str] = ()


@dataclass(frozen=True)
class _Candidate:
    """Settings to try, with what is done to the model before."""

    settings: Settings
    equalized: bool = False
    corrected: bool = False

    def __str__(self):
        if self.settings.mode == "dynamic":
            words = ["dynamic"]
        else:
            words = [self.settings.mode, self.settings.method]
        words.append("per channel" if self.settings.per_channel else "per tensor")
        words += ["weights equalized"] * self.equalized + ["biases corrected"] * self.corrected
        if self.settings.exclude:
            words.append("in float: " + ", ".join(self.settings.exclude))
        return ", ".join(words)


def best(model: onnx.ModelProto, settings: Settings) -> tuple[onnx.ModelProto, list[Attempt]]:
    """Return the most accurate quantized model, and all attempts, its own last.

    Without a limit of the drop there is one attempt. With one, the first within the limit is the
    last.
    """
    judge = _Judge(model, settings)
    tried: list[tuple[Attempt, onnx.ModelProto]] = []
    for candidate in _candidates(model, settings):
        quantized = _quantized(model, candidate)
        exclude = candidate.settings.exclude
        attempt = Attempt(str(candidate), judge.top1(quantized), judge.top1_float, exclude)
        tried.append((attempt, quantized))
        if settings.max_drop is None or _holds(attempt, settings.max_drop):
            break
    taken = max(range(len(tried)), key=lambda i: (tried[i][0].top1 or 0.0, -i))
    tried.append(tried.pop(taken))
    return tried[-1][1], [attempt for attempt, _ in tried]


def _holds(attempt, max_drop):
    return attempt.top1 is not None and attempt.top1 >= attempt.top1_float - max_drop


def _candidates(model, settings) -> Iterator[_Candidate]:
    """Yield the requested settings, then what may be more accurate, cheap settings first."""
    yield _Candidate(settings)
    channels = replace(settings, per_channel=True)
    if not settings.per_channel:
        yield _Candidate(channels)
    if settings.mode != "dynamic":
        for method in METHODS:
            if method != settings.method:
                yield _Candidate(replace(channels, method=method))
        channels = replace(channels, method="mse")
        yield _Candidate(channels, equalized=True)
        yield _Candidate(channels, equalized=True, corrected=True)
        rows = layers(
            model, _quantized(model, _Candidate(channels)), settings.samples[:_LOOKED_AT]
        )
        worst = [row.node for row in sorted(rows, key=lambda row: row.output)]
        for n in _LEFT_IN_FLOAT:
            if n <= len(worst):
                exclude = tuple(dict.fromkeys([*settings.exclude, *worst[:n]]))
                yield _Candidate(replace(channels, exclude=exclude))


def _quantized(model, candidate):
    settings = candidate.settings
    if settings.mode == "dynamic":
        return qdq.dynamic(model, settings.per_channel, settings.exclude)
    if candidate.equalized:
        model = equalize(model)
    bits = 16 if settings.mode == "int16x8" else 8
    limits = ranges(model, settings.samples, settings.method)
    rest = (bits, settings.per_channel, settings.exclude)
    quantized = qdq.static(model, limits, *rest)
    if candidate.corrected:
        corrected = bias.corrected(model, quantized, settings.samples)
        quantized = qdq.static(corrected, limits, *rest)
    return quantized


class _Judge:
    """Compares the classes that a model answers with the labels, or with float's."""

    def __init__(self, model, settings):
        self.samples = settings.samples
        predictions = _predictions(model, self.samples)
        self.targets, self.top1_float = None, None
        if predictions is not None:
            self.targets = predictions.classes
            if self.targets is None:
                self.targets = predictions.scores.argmax(axis=1)
        if self.targets is not None and settings.labels is not None:
            self.targets = settings.labels
            self.top1_float = self._share(predictions)

    def top1(self, model) -> float | None:
        return None if self.targets is None else self._share(_predictions(model, self.samples))

    def _share(self, predictions):
        try:
            return answers_of(predictions, self.targets).accuracy
        except UsageError as e:
            raise UsageError(f"--labels: {e}") from None


def _predictions(model, samples: Sequence[Sample]) -> Predictions | None:
    """Return the classes and scores of all samples; None if no output is a row of scores."""
    session = open_session(model)
    outputs = (session.run(None, dict(sample)) for sample in samples)
    try:
        result = predictions_of(outputs, np.zeros(1, np.int64))
    except UsageError:  # no such output
        return None
    return result if result.scores is not None and result.scores.shape[1] > 1 else None
