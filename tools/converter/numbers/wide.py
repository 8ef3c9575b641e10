"""Nodes whose values differ so much that blocks lose what float32 would keep.

1. What the blocks lose of each node's sums is computed in float64 (block_loss).
2. onnxruntime runs the model with and without that error, made FACTOR times as large: a small
   change of the outputs would not be told from how onnxruntime itself rounds. What it changes of
   an output, by FACTOR and the output's largest magnitude, is what it costs there.
3. Nodes leave one after another, the one that costs most first, until the others together cost
   no more than the bound, or than what float32 itself loses in all sums.
4. Those that left come back in a form with finer exponents, where one costs as little.
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
from .block_loss import Loss, Unlike
from .finer import WHOLE, Form, forms_of

FACTOR = 256.0
_N_OWN = 4  # errors of float32 that are tried
# Of a node whose attributes or values are other ones than block_loss is for.
_OTHERS = (Unlike, LookupError, TypeError, ValueError)

Sample = Mapping[str, np.ndarray]
Errors = Mapping[str, Sequence[np.ndarray]]  # by a node's output, for each sample


class Found(NamedTuple):
    """floats: names of the nodes that leave; finer: forms of others, by their first output;
    unlike: names of those whose loss cannot be computed.
    """

    floats: list[str]
    finer: dict[str, Form]
    unlike: list[str]


def found(
    model: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    samples: Sequence[Sample],
    bound: float,
) -> Found:
    """What is to be done with these nodes. Raises ImportError, and OrtError as open_session."""
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    runs = [values | constants for values in each_run(model, samples)]
    losses, unlike = _losses(nodes, runs, constants)
    errors = {output: [loss.error for loss in some] for output, some in losses.items()}
    errors = {output: some for output, some in errors.items() if any(e.any() for e in some)}
    if not errors:
        return Found([], {}, unlike)
    costs = _Costs(model, samples, losses, bound)
    leaving = _leaving(errors, costs)
    held = {output: some for output, some in errors.items() if output not in leaving}
    floats: list[str] = []
    finer: dict[str, Form] = {}
    for node in [node for output in leaving for node in nodes if node.output[0] == output]:
        for form in forms_of(node, runs):
            tried, _ = _losses([node], runs, constants, form)
            more = {output: [loss.error for loss in some] for output, some in tried.items()}
            if more and costs.of(held | more) <= 1:
                held |= more
                finer[node.output[0]] = form
                break
        else:
            floats.append(name_of(node))
    return Found(floats, finer, unlike)


def _leaving(errors, costs):
    """Nodes, by their outputs, without which the others cost little; the costliest first."""
    leaving: list[str] = []
    for output in sorted(errors, key=lambda output: costs.of({output: errors[output]}))[::-1]:
        if costs.of({o: some for o, some in errors.items() if o not in leaving}) <= 1:
            break
        leaving.append(output)
    return leaving


def _losses(nodes, runs, constants, form=WHOLE):
    """By a node's output, its Loss in each run; and names of nodes that have none."""
    losses, unlike = {}, []
    for node in nodes:
        try:
            is_known = node.input[1] in constants
            losses[node.output[0]] = [Loss(node, values, is_known, form) for values in runs]
        except _OTHERS:
            unlike.append(name_of(node))
    return losses, unlike


class _Costs:
    """Of errors of the nodes that have a Loss."""

    def __init__(self, model, samples, losses: Mapping[str, Sequence[Loss]], bound: float):
        self._samples, self._losses = samples, losses
        self._session = open_session(_with_errors(model, losses))
        self._wanted = self._outputs({})
        own = [self._changes(self._own(seed)) for seed in range(_N_OWN)]
        self._bounds = [max(bound, *changes) for changes in zip(*own, strict=True)]

    def _own(self, seed):
        return {output: [loss.own(seed) for loss in some] for output, some in self._losses.items()}

    def of(self, errors: Errors) -> float:
        """What these cost together, by what they may."""
        changes = self._changes(errors) if errors else []
        return max((c / b for c, b in zip(changes, self._bounds, strict=False)), default=0.0)

    def _changes(self, errors):
        """Of each output, the largest one over the samples."""
        runs = zip(self._outputs(errors), self._wanted, strict=True)
        changes = [list(map(_difference, got, wanted)) for got, wanted in runs]
        return [max(of_output) / FACTOR for of_output in zip(*changes, strict=True)]

    def _outputs(self, errors):
        found = []
        for i, sample in enumerate(self._samples):
            feed = dict(sample)
            for output, losses in self._losses.items():
                error = errors[output][i] if output in errors else 0.0
                feed[_input_of(output)] = losses[i].of_output(FACTOR * error)
            found.append(self._session.run(None, feed))
        return found


def _difference(a, b):
    """The largest one, by the largest magnitude of b; 0 where b is none of finite floats."""
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
    """The model with an input for each of these values, which is added to it."""
    found = copied(model)
    nodes = list(found.graph.node)
    del found.graph.node[:]
    for node in nodes:
        found.graph.node.append(node)
        if node.output and node.output[0] in outputs:
            name = node.output[0]
            found.graph.node[-1].output[0] = f"{name}/exact"
            terms = [f"{name}/exact", _input_of(name)]
            found.graph.node.append(helper.make_node("Add", terms, [name]))
            info = helper.make_tensor_value_info(_input_of(name), TensorProto.FLOAT, None)
            found.graph.input.append(info)
    return found
