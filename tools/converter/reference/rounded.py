"""Find the values of a model that quantization rounds, and what other roundings would change.

A board computes the exact sums of a quantized layer, onnxruntime float32 sums: a sum halfway
between two integers may go to either (docs/quantization.md, "How exact it is").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from ..external_weights import array_of
from ..protos import attributes_of, bodies_of, captured, copied, set_all
from .ort_session import OrtError, open_session

_TRIALS = 8  # sets of random steps
_ONE_OF = 1000  # elements takes a step in such a set, at least one of each value
_INNER = 8  # integers at each end of a dtype's range that take no step
_MORE = 2.0  # times the largest difference, for outputs that are not rounded themselves
_STEPS = " steps"
# Operators whose output consists of elements of their first input.
_KEEPING = ("Flatten", "Identity", "MaxPool", "Reshape", "Slice", "Squeeze", "Transpose")
_KEEPING += ("Unsqueeze",)
_NOT_INTEGERS = (
    TensorProto.FLOAT8E4M3FN,
    TensorProto.FLOAT8E4M3FNUZ,
    TensorProto.FLOAT8E5M2,
    TensorProto.FLOAT8E5M2FNUZ,
    TensorProto.FLOAT4E2M1,
)


class Effect(NamedTuple):
    """The effect of other roundings on an output.

    Attributes:
        step: size of one step of the output itself: 1 for integers, the scale behind
            DequantizeLinear, 0.0 if the output is computed otherwise.
        moved: largest change of the output in onnxruntime by random single steps of all rounded
            values, doubled if step is 0.0.
    """

    step: float
    moved: float


NONE = Effect(0.0, 0.0)


class Rounded:
    """The values of a model that are rounded.

    These are the outputs of QuantizeLinear, DynamicQuantizeLinear, QGemm and QLinear operators,
    unless they depend only on constants.
    """

    def __init__(self, model: onnx.ModelProto):
        self._model = model
        self._producers = {name: node for node in model.graph.node for name in node.output if name}
        self._constants = {t.name: t for t in model.graph.initializer}
        known = set(self._constants)
        for node in model.graph.node:
            if known.issuperset(filter(None, node.input)) and not any(bodies_of(node)):
                known.update(node.output)
        self._names = {
            node.output[0]
            for node in model.graph.node
            if self._rounds(node) and node.output[0] not in known
        }

    def _rounds(self, node):
        kind = node.op_type
        if kind == "QuantizeLinear":
            zero_point = self._constants.get(node.input[2]) if len(node.input) > 2 else None
            dtype = attributes_of(node).get("output_dtype", 0)
            return (zero_point.data_type if zero_point else dtype) not in _NOT_INTEGERS
        return kind in ("DynamicQuantizeLinear", "QGemm") or kind.startswith("QLinear")

    def is_any(self) -> bool:
        """Return True if the model has values that quantization rounds."""
        return bool(self._names)

    def is_rounded(self, name: str) -> bool:
        """Return True if a value consists of the elements of a rounded one."""
        return self._source(name) in self._names

    def is_cast(self, name: str) -> bool:
        """Return True if a Cast computes the elements of a value."""
        producer = self._producers.get(self._source(name))
        return producer is not None and producer.op_type == "Cast"

    def _source(self, name):
        """Return the value whose elements a value consists of."""
        while name not in self._names:
            producer = self._producers.get(name)
            if producer is None or producer.op_type not in _KEEPING:
                break
            name = producer.input[0]
        return name

    def grid_of_input(self, name: str) -> tuple[float, int, np.dtype] | None:
        """Return scale, zero point and dtype of the integers that a float input becomes first."""
        for node in self._model.graph.node:
            if not node.input or node.input[0] != name:
                continue
            if node.op_type in _KEEPING:
                return self.grid_of_input(node.output[0])
            constants = [self._constants.get(n) for n in node.input[1:3]]
            if node.op_type == "QuantizeLinear" and len(constants) == 2 and all(constants):
                scale, zero_point = map(array_of, constants)
                if scale.size == zero_point.size == 1 and zero_point.dtype.kind in "iu":
                    return float(scale.item()), int(zero_point.item()), zero_point.dtype
        return None

    def effects(
        self, inputs: Mapping[str, np.ndarray], outputs: Sequence[str]
    ) -> dict[str, Effect]:
        """Return the effect of steps by output, for outputs that depend on rounded values."""
        outputs = [name for name in outputs if self._is_behind(name)]
        moved = self._moved_by_steps(inputs, outputs) if outputs else {}
        return {name: self._effect(name, moved.get(name, 0.0)) for name in outputs}

    def _effect(self, name, moved):
        step = 1.0 if self.is_rounded(name) else self._scale_of(name)
        return Effect(step, moved if step else _MORE * moved)

    def _scale_of(self, name):
        """Return the scale of a dequantized rounded value, 0.0 for any other value."""
        producer = self._producers.get(self._source(name))
        if producer is None or producer.op_type != "DequantizeLinear":
            return 0.0
        scale = self._constants.get(producer.input[1])
        if scale is None or not self.is_rounded(producer.input[0]):
            return 0.0
        return float(np.abs(array_of(scale).astype(np.float64)).max(initial=0.0))

    def _is_behind(self, output):
        """Return True if an output depends on a rounded value."""
        seen, pending = set(), [output]
        while pending:
            name = pending.pop()
            if name in self._names:
                return True
            if name in self._producers and name not in seen:
                seen.add(name)
                pending += _reads(self._producers[name])
        return False

    def _moved_by_steps(self, inputs, outputs):
        """Return the largest change by output, nothing if onnxruntime does not run the steps."""
        names = [n.output[0] for n in self._model.graph.node if n.output[0] in self._names]
        try:
            right = _run(_ending_in(self._model, [*outputs, *names]), inputs)
            values = {n: right[n] for n in names if right[n].dtype.kind in "iu" and right[n].size}
            session = open_session(_with_steps(_ending_in(self._model, outputs), values))
            most, rng = np.zeros(len(outputs)), np.random.default_rng(0)
            for _ in range(_TRIALS):
                steps = {name + _STEPS: _steps_of(rng, value) for name, value in values.items()}
                changed = _feed(session, inputs | steps, outputs)
                most = np.maximum(most, [_apart(changed[n], right[n]) for n in outputs])
        except (ImportError, OrtError):
            return {}
        return dict(zip(outputs, most.tolist(), strict=True))


def _reads(node):
    """Return the names of the values that a node and its bodies read."""
    return [*filter(None, node.input), *(n for body in bodies_of(node) for n in captured(body))]


def _ending_in(model, names):
    """Return a copy of the model with these values as its only outputs."""
    copy = copied(model)
    set_all(copy.graph.output, [helper.make_empty_tensor_value_info(name) for name in names])
    return copy


def _with_steps(model, values):
    """Add an input of steps for each of several values, in place, and return the model."""
    nodes = []
    for node in model.graph.node:
        nodes.append(node)
        name = node.output[0] if node.output else ""
        if name in values:
            node.output[0] = exact = name + " exact"
            dtype = helper.np_dtype_to_tensor_dtype(values[name].dtype)
            wide, moved, steps = name + " wide", name + " moved", name + _STEPS
            nodes += [
                helper.make_node("Cast", [exact], [wide], to=TensorProto.INT32),
                helper.make_node("Add", [wide, steps], [moved]),
                helper.make_node("Cast", [moved], [name], to=dtype),
            ]
            shape = values[name].shape
            info = helper.make_tensor_value_info(steps, TensorProto.INT32, shape)
            model.graph.input.append(info)
    set_all(model.graph.node, nodes)
    return model


def _steps_of(rng, value):
    """Return random steps of -1 or 1 for a few elements, 0 for others.

    Elements near the ends of the dtype's range take no step, because integers that leave it wrap.
    """
    bounds = np.iinfo(value.dtype)
    inner = (value > bounds.min + _INNER) & (value < bounds.max - _INNER)
    candidates = np.flatnonzero(inner)
    steps = np.zeros(value.size, np.int32)
    n = min(len(candidates), max(1, value.size // _ONE_OF))
    steps[rng.choice(candidates, n, replace=False)] = rng.choice([-1, 1], n)
    return steps.reshape(value.shape)


def _run(model, inputs):
    session = open_session(model)
    return _feed(session, inputs, session.outputs)


def _feed(session, values, names):
    feed = {name: values[name] for name in session.inputs if name in values}
    return dict(zip(names, session.run(names, feed), strict=True))


def _apart(a, b):
    with np.errstate(invalid="ignore"):
        apart = np.abs(_numbers_in(a) - _numbers_in(b))
    return apart[np.isfinite(apart)].max(initial=0.0)


def _numbers_in(value):
    """Return the numbers of an array, or those in a map or a sequence, as a vector of float64."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return np.concatenate([np.zeros(0), *map(_numbers_in, value)])
    array = np.asarray(value)
    return np.zeros(0) if array.dtype.kind in "OUS" else array.astype(np.float64).ravel()
