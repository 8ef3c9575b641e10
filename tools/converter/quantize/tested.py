"""Measure a float model and its quantized form on test data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from ..errors import UsageError
from ..protos import free_inputs
from ..reference.ort_session import open_session
from ..truth import Answers, Data, answers_of, predictions_of
from .data import spec_of


@dataclass(frozen=True)
class Tested:
    """What both models answer on the test data.

    Attributes:
        of_float: answers of the float model.
        quantized: answers of the quantized one.
    """

    of_float: Answers
    quantized: Answers

    @property
    def count(self) -> int:
        """The number of samples."""
        return len(self.quantized.truth)

    def report(self) -> dict:
        """Return the figures for JSON."""
        models = {"float": self.of_float, "quantized": self.quantized}
        return {"samples": self.count} | {
            name: {
                "accuracy": answers.accuracy,
                "mean_absolute_error": answers.mean_absolute_error,
                "r2": answers.r2,
                "nan": int(answers.has_nan.sum()),
            }
            for name, answers in models.items()
        }


def tested(
    model: onnx.ModelProto, quantized: onnx.ModelProto, data: Data, class_names: Sequence[str] = ()
) -> Tested:
    """Run both models on the test data.

    Args:
        model: the float model.
        quantized: the quantized one.
        data: samples, and what is true of them.
        class_names: names of the classes, in the order of the scores.

    Raises:
        UsageError: if the data do not fit the model.
    """
    try:
        samples = data.samples([spec_of(info) for info in free_inputs(model.graph)])
        of_float = _answers(model, samples, data.truth, class_names)
        of_quantized = _answers(quantized, samples, data.truth, class_names, of_float.threshold)
    except UsageError as e:
        raise UsageError(f"--test: {e}") from None
    return Tested(of_float, of_quantized)


def _answers(model, samples, truth, class_names, threshold=None):
    session = open_session(model)
    outputs = (session.run(None, sample) for sample in samples)
    return answers_of(predictions_of(outputs, truth), truth, threshold, class_names)
