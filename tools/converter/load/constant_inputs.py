"""Refuse constant inputs and attributes out of range, which onnx's inference accepts.

onnxruntime refuses such a node only when it runs; a board would detect it as late, or never.
"""

from __future__ import annotations

import numpy as np
import onnx

from ..errors import Finding, Problem, UnsupportedModel
from ..external_weights import array_of
from ..protos import attributes_of, name_of, nodes_of, operator_of
from .scales import constants_of, graphs_of

_MOST_NBYTES = 1 << 30  # as sound has it


def check(model: onnx.ModelProto) -> None:
    """Refuse nodes whose constant inputs or attributes are out of range.

    Raises:
        UnsupportedModel: with each such node, and the range of its input or attribute.
    """
    constants, dims = {}, {}
    for graph in graphs_of(model.graph):
        constants |= dict(constants_of(graph))
        for info in [*graph.input, *graph.value_info, *graph.output]:
            if info.type.tensor_type.HasField("shape"):
                dims[info.name] = [_extent(d) for d in info.type.tensor_type.shape.dim]
    dims |= {name: list(t.dims) for name, t in constants.items()}
    findings = {}
    for node in nodes_of(model.graph):
        rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        reason = rule(_KnownInputs(node, constants, dims)) if rule else None
        if reason:
            finding = Finding(operator_of(node), name_of(node), Problem(reason))
            findings[str(finding), finding.name] = finding
    if findings:
        raise UnsupportedModel(list(findings.values()))


def _extent(dim):
    """Return a dimension's extent, None if it is unknown."""
    return dim.dim_value if dim.HasField("dim_value") else None


class _KnownInputs:
    """The known facts about a node's inputs: constants and dims; and its attributes."""

    def __init__(self, node, constants, dims):
        self._node, self._constants, self._dims = node, constants, dims
        self.attributes = attributes_of(node)

    def constant(self, i):
        """Return input i as an array of integers or floats; None for anything else."""
        name = self._node.input[i] if i < len(self._node.input) else ""
        array = array_of(self._constants[name]) if name in self._constants else None
        return array if array is not None and array.dtype.kind in "iuf" else None

    def dims(self, i):
        """Return the dims of input i, each None if unknown; None if the rank is unknown."""
        return self._dims.get(self._node.input[i])


def _range(inputs):
    values = [inputs.constant(i) for i in range(3)]
    if any(v is None or v.size != 1 or v.dtype.kind == "f" for v in values):
        return None
    start, limit, delta = [int(v.item()) for v in values]
    n = max(0, -((start - limit) // delta)) if delta else 0
    if n * values[0].dtype.itemsize > _MOST_NBYTES:
        return f"it makes {n:,} values, too many for any board"
    return None


def _stft(inputs):
    return _least(inputs, 1, "frame_step", 1)


def _mel(inputs):
    return _least(inputs, 2, "sample_rate", 1)


def _tile(inputs):
    return _least(inputs, 1, "repeats", 0)


def _least(inputs, i, name, least):
    values = inputs.constant(i)
    if values is not None and values.size and values.min() < least:
        return f"{name} is {values.min()}, it must be {least} or more"
    return None


def _elements(inputs):
    axis, dims = inputs.attributes.get("axis", 0), inputs.dims(0)
    if dims is None or not -len(dims) <= axis < len(dims):
        return None
    return _outside(inputs.constant(1), dims[axis])


def _nd(inputs):
    """Check the indices of GatherND and ScatterND, whose last axis has one index for each axis."""
    indices, dims = inputs.constant(1), inputs.dims(0)
    first = inputs.attributes.get("batch_dims", 0)
    if indices is None or dims is None or not indices.ndim:
        return None
    for k, extent in enumerate(dims[first : first + indices.shape[-1]]):
        if reason := _outside(indices[..., k], extent):
            return reason
    return None


def _outside(indices, extent):
    if indices is None or extent is None or not indices.size:
        return None
    for index in (indices.min(), indices.max()):
        if not -extent <= int(index) < extent:
            return f"index {index} is outside of an axis of {extent}"
    return None


def _cumsum(inputs):
    axis, dims = inputs.constant(1), inputs.dims(0)
    if axis is None or dims is None or axis.size != 1:
        return None
    reason = _outside(axis, len(dims))
    return f"axis: {reason}" if reason else None


def _concat(inputs):
    axis, dims = inputs.attributes.get("axis", 0), inputs.dims(0)
    reason = None if dims is None else _outside(np.array(axis), len(dims))
    return f"axis: {reason}" if reason else None


def _reverse(inputs):
    lengths, dims = inputs.constant(1), inputs.dims(0)
    axis = inputs.attributes.get("time_axis", 0)
    if lengths is None or dims is None or not 0 <= axis < len(dims) or dims[axis] is None:
        return None
    if lengths.size and not (lengths.min() >= 0 and lengths.max() <= dims[axis]):
        return f"sequence_lens must be from 0 to {dims[axis]}"
    return None


_RULES = {
    "Concat": _concat,
    "CumSum": _cumsum,
    "GatherElements": _elements,
    "GatherND": _nd,
    "MelWeightMatrix": _mel,
    "Range": _range,
    "ReverseSequence": _reverse,
    "STFT": _stft,
    "ScatterElements": _elements,
    "ScatterND": _nd,
    "Tile": _tile,
}
