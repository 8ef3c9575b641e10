"""Measure a float model and its quantized form on test data."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from ..errors import UsageError
from ..protos import free_inputs
from ..reference.ort_session import open_session
from ..truth import Answers, Data, answers_of, output_of, stacked
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


def tested(model: onnx.ModelProto, quantized: onnx.ModelProto, data: Data) -> Tested:
    """Run both models on the test data.

    Raises:
        UsageError: if the data do not fit the model.
    """
    try:
        samples = data.samples([spec_of(info) for info in free_inputs(model.graph)])
        session = open_session(model)
        i = output_of(session.run(None, samples[0]), data.truth)
        of_float = _answers(session, i, samples, data.truth, None)
        open_quantized = open_session(quantized)
        answers = _answers(open_quantized, i, samples, data.truth, of_float.threshold)
    except UsageError as e:
        raise UsageError(f"--test: {e}") from None
    return Tested(of_float, answers)


def _answers(session, i, samples, truth, threshold):
    name = session.outputs[i]
    outputs = stacked([session.run([name], sample)[0] for sample in samples])
    return answers_of(outputs, truth, threshold)
