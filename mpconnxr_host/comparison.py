"""Compare what a file computes with what onnxruntime computes of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import mpconnxr
from tools.converter.protos import free_inputs
from tools.converter.reference.ort_session import open_session
from tools.converter.truth import Spec
from tools.errors import UsageError
from tools.run.compare import Errors
from tools.run.models import spec_of

from .arguments import Model, proto_of, rows_of, source_of


@dataclass(frozen=True)
class Difference:
    """How far an output is from the original's, over all samples.

    Attributes:
        name: of the output.
        largest: the largest absolute difference; 1 if text differs.
        mean: the mean absolute difference.
        relative: `largest`, divided by the largest magnitude of the original.
        snr_db: the signal-to-noise ratio [dB]; inf if there is no difference.
        agreement: share of rows whose largest element is at the same place; of samples with the
            same value, if it is one integer or text; None for one float.
    """

    name: str
    largest: float
    mean: float
    relative: float
    snr_db: float
    agreement: float | None


def compare(model: Model, converted: Any, samples: Any) -> list[Difference]:
    """Compare what a file computes with what onnxruntime computes of the original.

    >>> import numpy as np
    >>> x = np.zeros((3, 1, 1, 8, 8), np.float32)
    >>> model = "examples/digits/digits.onnx"
    >>> [logits] = mpconnxr.compare(model, mpconnxr.convert(model), x)
    >>> logits.agreement, logits.largest < 1e-5
    (1.0, True)

    Args:
        model: the original: see `convert`.
        converted: what `convert` returned, or a .bin.
        samples: an array or a dict of arrays by input name, whose first axis counts samples.

    Raises:
        UsageError: if the samples do not fit the model.
        RunError: if the outputs differ in shape or keys.
    """
    proto = proto_of(source_of(model))
    session = open_session(proto)
    loaded = mpconnxr.load(converted)
    inputs, names = ([str(t.name) for t in tensors] for tensors in (loaded.inputs, loaded.outputs))
    specs = [Spec(s.name, s.dtype, s.shape) for s in map(spec_of, free_inputs(proto.graph))]
    if (set(inputs), set(names)) != ({spec.name for spec in specs}, set(session.outputs)):
        raise UsageError("compare: model and file have other inputs or outputs")
    errors = [Errors() for _ in names]
    same: list[list[bool]] = [[] for _ in names]
    for x in rows_of(specs, samples):
        outputs = loaded.run({name: x[name] for name in inputs})
        for i, pair in enumerate(zip(outputs, session.run(names, x), strict=True)):
            y, expected = map(_comparable, pair)
            errors[i].add(y, expected)
            if isinstance(expected, np.ndarray) and expected.dtype.kind != "f":
                same[i].append(bool((y == expected).all()))
    figures = [error.figures() for error in errors]
    return [_difference(*row) for row in zip(names, figures, same, strict=True)]


def _comparable(output: Any) -> Any:
    """Return an output as Errors takes it: maps as a list, in the order of their keys."""
    if isinstance(output, dict | list):
        maps = output if isinstance(output, list) else [output]
        return [{key: one[key] for key in sorted(one)} for one in maps]
    return np.asarray(output)


def _difference(name: str, figures: dict[str, Any], same: list[bool]) -> Difference:
    snr, agreement = figures["snr_db"], figures["argmax"]
    if agreement is None and same:
        agreement = sum(same) / len(same)
    return Difference(
        name,
        figures["max_abs"],
        figures["mean_abs"],
        figures["max_rel"],
        float("inf") if snr is None else snr,
        agreement,
    )
