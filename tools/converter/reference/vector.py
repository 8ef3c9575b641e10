"""Choose the golden vector of a conversion: inputs, the reference's outputs, and their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from tools.format.objects import STRING

from ..ir import Graph, walk
from ..protos import nodes_of
from . import golden
from .tolerance import Tolerance, relative_of

_RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike")
_RANDOM += ("RandomUniform", "RandomUniformLike")
_SEEDS = 5  # random inputs to try for a model whose outputs may be a step off
_HALF = 0.499  # of the difference of two scores: smaller errors keep their order
_MOST_ROWS = 16  # rows of an output of scores


@dataclass(frozen=True)
class Vector:
    """A golden vector.

    Attributes:
        inputs: arrays in the graph's order.
        outputs: (name, value) in the graph's order.
        bounds: largest error of each output.
    """

    inputs: list[np.ndarray]
    outputs: list[tuple[str, np.ndarray | list[dict]]]
    bounds: list[float]

    @property
    def values(self) -> list[np.ndarray | list[dict]]:
        """Return the outputs without their names."""
        return [value for _, value in self.outputs]


def _resolved(outputs, bounds):
    """Return bounds that tell classes apart if possible, and how well they do.

    If classes are nearer to each other than the bounds, a bound gets smaller, but not below its
    `least`.

    Args:
        outputs: (name, value) of each output.
        bounds: the Bound of each output.

    Returns:
        The bounds, and the distance of the nearest classes relative to what errors within the
        bounds can change.
    """
    results, decisive = [], np.inf
    for (_, value), bound in zip(outputs, bounds, strict=True):
        margin = _least_margin(value) if has_scores(value) else np.inf
        results.append(min(bound.most, max(bound.least, _HALF * margin)))
        if bound.most:
            decisive = min(decisive, margin / (2 * bound.most))
    return results, decisive


def has_scores(value: object) -> bool:
    """Return True for an array whose rows may be scores of classes."""
    is_array = isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "fiu"
    return is_array and value.shape[-1] > 1 and 0 < value.size <= _MOST_ROWS * value.shape[-1]


def _least_margin(value):
    """Return the smallest difference between the two largest elements of a row."""
    rows = np.sort(value.astype(np.float64).reshape(-1, value.shape[-1]), axis=-1)
    with np.errstate(invalid="ignore"):
        margin = float((rows[:, -1] - rows[:, -2]).min())
    return margin if np.isfinite(margin) else 0.0


class NoVector(Exception):
    """A model gets no golden vector; the message says why."""


def vector_of(
    model: onnx.ModelProto,
    graph: Graph,
    float_mode: str,
    requested_inputs: Sequence[np.ndarray] | None,
    states: Mapping[str, str],
    is_for_file: bool = True,
) -> Vector:
    """Return the golden vector of a model.

    Args:
        model: the reference, which onnxruntime runs.
        graph: the lowered graph of this model.
        float_mode: the option `--float`.
        requested_inputs: the user's inputs; None for random ones.
        states: outputs by the input that they feed; it starts with zeros.
        is_for_file: the vector is for a file, which allows no strings as inputs and no shapes that
            a run decides; otherwise it is for a run on this computer, with the largest shapes.

    Raises:
        NoVector: if the model cannot have one.
    """
    if is_for_file:
        _refuse_for_file(graph)
    if requested_inputs is None and any(t.is_object for t in graph.inputs):
        raise NoVector("there are no random inputs of strings or maps: give --golden X.npy")
    if drawn := _random_operators(model):
        raise NoVector(f"{drawn[0]} draws random numbers")
    if any(_writes_floats(step) for step in walk(graph.steps)):
        raise NoVector("onnxruntime writes floats as strings in another form than ONNX")
    tolerance = Tolerance(model, relative_of(graph, float_mode))
    best: Vector | None = None
    most = -np.inf
    for inputs in _candidates(graph, tolerance, requested_inputs):
        outputs = golden.named_reference(model, inputs, states)
        if outputs is None:
            continue
        fed = golden.feed_of(model, inputs, states)
        bounds, decisive = _resolved(outputs, tolerance.bounds(fed, outputs))
        if decisive > most:
            best, most = Vector(inputs, outputs, bounds), decisive
        if decisive > 1 or not tolerance.is_loose:
            break
    if best is None:
        raise NoVector(golden.why_none(model, inputs, states))
    return best


def _candidates(graph, tolerance, requested_inputs) -> Iterator[list[np.ndarray]]:
    """Yield inputs for the golden vector, to be tried one after another.

    If the tolerance allows whole steps of a rounding, random inputs should make classes differ by
    more than such steps: then a board that finds another class is wrong.
    """
    if requested_inputs is not None:
        yield list(requested_inputs)
        return
    if tolerance.is_loose:
        grids = tolerance.grids_of(t.name for t in graph.inputs)
        for seed in range(_SEEDS):
            yield golden.spread_inputs(graph, grids, seed)
    yield from golden.choices(graph)


def _refuse_for_file(graph):
    if any(t.is_object for t in graph.inputs):
        raise NoVector("inputs of strings or maps are not supported in it")
    if any(_is_open(t) for t in graph.inputs + graph.outputs):
        raise NoVector("the shape of an input or output depends on the run")


def _random_operators(model):
    nodes = [*nodes_of(model.graph), *(n for f in model.functions for n in nodes_of(f))]
    return [node.op_type for node in nodes if node.op_type in _RANDOM]


def _writes_floats(step):
    return step.kernel == "string_format" and step.inputs[0].np_dtype.kind in "fV"


def _is_open(t):
    """Return True if a run decides the shape. A list of maps has as many as its input has rows."""
    return t.is_open_object and t.dtype == STRING if t.is_object else t.is_open
