"""Choose what to do with nodes whose values range too widely for one exponent per block.

1. block_loss computes in float64 how much each node's sums lose in blocks.
2. onnxruntime runs the model with and without that error, FACTOR times as large, because a smaller
   change would disappear in onnxruntime's own rounding. The change of an output, divided by FACTOR
   and by the output's largest magnitude, is the cost.
3. Nodes leave blocks one by one, the costliest first, until the others together cost no more than
   the bound, or than float32's own loss in all sums.
4. A node that left returns with a refinement (see refinements.py) if it costs as little then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..protos import copied, name_of
from ..quantize.activations import each_run
from ..reference.ort_session import open_session
from .block_loss import Loss, UnlikeSums
from .refinements import UNREFINED, Refinement, refinements_of

FACTOR = 256.0
_N_OWN = 4  # random errors of float32 to try
# Errors for a node whose attributes or values block_loss cannot handle.
_OTHERS = (UnlikeSums, LookupError, TypeError, ValueError)

Sample = Mapping[str, np.ndarray]
Errors = Mapping[str, Sequence[np.ndarray]]  # by a node's output, for each sample


class Choice(NamedTuple):
    """How to compute the nodes whose values range too widely.

    Attributes:
        floats: names of nodes that compute with floats.
        refinements: how other nodes are rewritten, by their first output.
        unlike: names of nodes whose loss cannot be computed.
    """

    floats: list[str]
    refinements: dict[str, Refinement]
    unlike: list[str]


def choose(
    model: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    samples: Sequence[Sample],
    bound: float,
) -> Choice:
    """Choose how to compute these nodes.

    Args:
        model: a model of floats.
        nodes: products of the model.
        samples: values of the inputs by name.
        bound: bound of the relative error of an output.

    Raises:
        ImportError: without onnxruntime.
        OrtError: if onnxruntime does not run the model.
    """
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    runs = [values | constants for values in each_run(model, samples)]
    losses, unlike = _losses(nodes, runs, constants)
    errors = {output: [loss.error for loss in some] for output, some in losses.items()}
    errors = {output: some for output, some in errors.items() if any(e.any() for e in some)}
    if not errors:
        return Choice([], {}, unlike)
    costs = _Costs(model, samples, losses, bound)
    leaving = _leaving(errors, costs)
    held = {output: some for output, some in errors.items() if output not in leaving}
    floats: list[str] = []
    refinements: dict[str, Refinement] = {}
    for node in [node for output in leaving for node in nodes if node.output[0] == output]:
        for refinement in refinements_of(node, runs):
            tried, _ = _losses([node], runs, constants, refinement)
            more = {output: [loss.error for loss in some] for output, some in tried.items()}
            if more and costs.of(held | more) <= 1:
                held |= more
                refinements[node.output[0]] = refinement
                break
        else:
            floats.append(name_of(node))
    return Choice(floats, refinements, unlike)


def _leaving(errors, costs):
    """Return the nodes to exclude, by output, so that all other nodes together cost little.

    The nodes with the highest costs come first.
    """
    leaving: list[str] = []
    for output in sorted(errors, key=lambda output: costs.of({output: errors[output]}))[::-1]:
        if costs.of({o: some for o, some in errors.items() if o not in leaving}) <= 1:
            break
        leaving.append(output)
    return leaving


def _losses(nodes, runs, constants, refinement=UNREFINED):
    """Return the Loss of each node in each run, and the names of nodes without one.

    Args:
        nodes: the nodes.
        runs: values by name, for each run.
        constants: names of the constants.
        refinement: how the nodes are rewritten.

    Returns:
        ({first output: its losses}, names).
    """
    losses, unlike = {}, []
    for node in nodes:
        try:
            is_known = node.input[1] in constants
            losses[node.output[0]] = [Loss(node, values, is_known, refinement) for values in runs]
        except _OTHERS:
            unlike.append(name_of(node))
    return losses, unlike


class _Costs:
    """Costs of errors in the sums of nodes: how much they change the model's outputs."""

    def __init__(self, model, samples, losses: Mapping[str, Sequence[Loss]], bound: float):
        self._samples, self._losses = samples, losses
        self._session = open_session(_with_errors(model, losses))
        self._expected = self._outputs({})
        own = [self._changes(self._own(seed)) for seed in range(_N_OWN)]
        self._bounds = [max(bound, *changes) for changes in zip(*own, strict=True)]

    def _own(self, seed):
        return {output: [loss.own(seed) for loss in some] for output, some in self._losses.items()}

    def of(self, errors: Errors) -> float:
        """Return the cost of errors in several nodes together, relative to the bound."""
        changes = self._changes(errors) if errors else []
        return max((c / b for c, b in zip(changes, self._bounds, strict=False)), default=0.0)

    def _changes(self, errors):
        """Return the largest change of each output over the samples."""
        runs = zip(self._outputs(errors), self._expected, strict=True)
        changes = [list(map(_difference, got, expected)) for got, expected in runs]
        return [max(of_output) / FACTOR for of_output in zip(*changes, strict=True)]

    def _outputs(self, errors):
        result = []
        for i, sample in enumerate(self._samples):
            feed = dict(sample)
            for output, losses in self._losses.items():
                error = errors[output][i] if output in errors else 0.0
                feed[_input_of(output)] = losses[i].of_output(FACTOR * error)
            result.append(self._session.run(None, feed))
        return result


def _difference(a, b):
    """Return the largest difference by b's largest magnitude; 0 unless b has finite floats."""
    if not (isinstance(b, np.ndarray) and b.dtype.kind == "f" and b.size):
        return 0.0
    magnitude = np.abs(b, dtype=np.float64).max()
    if not (np.isfinite(magnitude) and magnitude):
        return 0.0
    difference = np.abs(np.subtract(a, b, dtype=np.float64)).max()
    return float(np.nan_to_num(difference, nan=np.inf) / magnitude)


def _input_of(output):
    return f"{output}/error"


def _with_errors(model, outputs: Iterable[str]):
    """Return the model with an additional input for each value, which is added to the value."""
    result = copied(model)
    nodes = list(result.graph.node)
    del result.graph.node[:]
    for node in nodes:
        result.graph.node.append(node)
        if node.output and node.output[0] in outputs:
            name = node.output[0]
            result.graph.node[-1].output[0] = f"{name}/exact"
            terms = [f"{name}/exact", _input_of(name)]
            result.graph.node.append(helper.make_node("Add", terms, [name]))
            info = helper.make_tensor_value_info(_input_of(name), TensorProto.FLOAT, None)
            result.graph.input.append(info)
    return result
