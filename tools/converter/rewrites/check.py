"""Check that rewrites keep a model's values: run it before and after, on random inputs.

A rewrite may change roundings only. One that changes values beyond that is omitted and named, so
that a mistake in it costs speed, not right answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import onnx

from .. import external_weights
from ..protos import free_inputs, nodes_of
from ..reference.differences import difference, random_sample, step_of
from ..reference.ort_session import OrtError, open_session
from ..shapes.types import all_fixed

_SAMPLES = 5
_MOST_NBYTES = 8 << 20  # of a model's constants: what loading it twice may cost
_MOST_SECONDS = 0.25  # for a run of the model before; a larger model is not checked
# Difference to the largest value of an output, in the median of the samples: a single one may lie
# at a threshold. Integers: their roundings move by a step each, and layers add them up; where all
# values are small, some steps are a large part of them.
_BOUND, _BOUND_OF_INTEGERS = 1e-3, 0.25
_STEPS = 4

Rewritten = tuple[onnx.ModelProto, dict[str, int]]


def checked(
    model: onnx.ModelProto, rewrite: Callable[[Sequence[str]], Rewritten]
) -> tuple[Rewritten, list[str]]:
    """Rewrite a model; exclude rewrites that change its values.

    Args:
        model: the model before.
        rewrite: takes the names of rewrites to exclude; returns the rewritten model and its log.

    Returns:
        The last result of `rewrite`, and the names that were excluded.
    """
    result = rewrite(())
    if not result[1] or not (error := deviation(model, result[0])):
        return result, []
    bound = _BOUND_OF_INTEGERS if _has_integers(model) else _BOUND
    if error <= bound:
        return result, []
    for names in _suspects(result[1]):
        other = rewrite(names)
        if (deviation(model, other[0]) or 0.0) <= bound:
            return other, list(names)
    return rewrite(everything := tuple(result[1])), list(everything)


def _suspects(log) -> Iterator[tuple[str, ...]]:
    """Yield each rewrite, first those that changed fewest places: others had more tests."""
    for name in sorted(log, key=log.__getitem__):
        yield (name,)


def deviation(before: onnx.ModelProto, after: onnx.ModelProto) -> float | None:
    """Return the largest difference of any output, relative to the output's magnitude.

    It is the median of several samples. None for models that cannot be compared: with dims that a
    run decides, with strings, too large, or of a kind that onnxruntime does not run.
    """
    inputs = free_inputs(before.graph)
    if not all_fixed(before.graph) or _nbytes(before) > _MOST_NBYTES:
        return None
    samples = [random_sample(inputs, seed) for seed in range(_SAMPLES)]
    if None in samples:
        return None
    names = [o.name for o in before.graph.output]
    are_steps, errors = _has_integers(before), []
    try:
        first, second = open_session(before), open_session(after)
        start = time.monotonic()
        for sample in samples:
            results = first.run(names, sample), second.run(names, sample)
            errors.append(_error(*results, are_steps))
            if time.monotonic() - start > 2 * _MOST_SECONDS:
                return None
    except (ImportError, OrtError):
        return None
    return float(np.median(errors))


def _error(expected, got, are_steps):
    pairs = zip(expected, got, strict=True)
    return max((_difference(a, b, are_steps) for a, b in pairs), default=0.0)


def _difference(expected, got, are_steps):
    result = difference(expected, got)
    if are_steps and 0 < result < np.inf:
        most = _STEPS * 1.001 * step_of(expected, got)
        if np.abs(np.subtract(expected, got, dtype=np.float64)).max() <= most:
            return 0.0
    return result


def _nbytes(model):
    return sum(external_weights.nbytes_of(t) for t in model.graph.initializer)


def _has_integers(model):
    return any("Quantize" in n.op_type or "Integer" in n.op_type for n in nodes_of(model.graph))
