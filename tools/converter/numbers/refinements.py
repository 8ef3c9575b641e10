"""Rewrite products whose first operand ranges too widely for one exponent per block.

    scaled    Each channel (element of a row) is multiplied by a power of two of its own, so that
              all are about as large, and its weights are divided by it. That is one exponent per
              channel, for one Mul. No bit of the values or weights changes.
    in parts  The values become multiples of a power of two plus a rest. Both are multiplied in
              blocks, where the exponent of the rest is smaller, and the products are added. This
              helps values of all magnitudes side by side, and doubles the work.

The powers fit the samples. Larger values of a run share exponents with others, as in the original
node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper

from ..context import Context
from ..protos import copied, name_of, opset_of
from ..shapes import infer

_HIGH_BITS = 12  # of the multiples
_HEADROOM = 10  # log2 of how much larger than in the samples a value may be
_MOST = 100  # largest exponent of a scale
_ACTIVATION = ("activation", "activation_params", "activation_alpha", "activation_beta")


@dataclass(frozen=True)
class Refinement:
    """How a product is rewritten to lose less.

    Attributes:
        scales: powers of two that broadcast to the first operand, or None.
        unit: the first of two parts consists of multiples of it; None if there is one part.
    """

    scales: np.ndarray | None = None
    unit: float | None = None

    @property
    def description(self) -> str:
        """Return a description for the user."""
        scaled = ["each channel times a power of two"] if self.scales is not None else []
        return " and ".join(scaled + ["in two parts"] * (self.unit is not None))

    def operands(self, node: NodeProto, x: np.ndarray, w: np.ndarray):
        """Return x and w with the scales applied: x times them, w divided by them."""
        if self.scales is None:
            return x, w
        return x * self.scales, w / of_weights(node, self.scales, w.shape)

    def parts(self, x: np.ndarray) -> list[np.ndarray]:
        """Return the parts of a scaled operand as a board computes them."""
        if self.unit is None:
            return [x]
        most, shift = np.float32(self.limit), np.float32(self.shift)
        high = (np.clip(np.float32(x), -most, most) + shift) - shift
        return [high.astype(np.float64), (np.float32(x) - high).astype(np.float64)]

    @property
    def limit(self) -> float:
        """Return the magnitude up to which values become multiples."""
        return self.unit * 2.0 ** (_HIGH_BITS + _HEADROOM)

    @property
    def shift(self) -> float:
        """Return a number whose last place is the unit: adding and subtracting it rounds."""
        return self.unit * 1.5 * 2.0**23


UNREFINED = Refinement()


def of_weights(node: NodeProto, scales: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return the scales of a product's first operand in a shape that broadcasts to its weights."""
    if node.op_type == "ConvTranspose":
        return scales.reshape(-1, *[1] * (len(shape) - 1))
    if "Conv" not in node.op_type:
        swapped = any(a.name == "transB" and a.i for a in node.attribute)
        return scales.ravel() if swapped or len(shape) == 1 else scales.reshape(-1, 1)
    groups = scales.size // shape[1]
    by_group = scales.reshape(groups, 1, shape[1])
    rows = np.broadcast_to(by_group, (groups, shape[0] // groups, shape[1]))
    return rows.reshape(*shape[:2], *[1] * (len(shape) - 2))


def refinements_of(
    node: NodeProto, runs: Sequence[Mapping[str, np.ndarray]]
) -> Iterator[Refinement]:
    """Yield the refinements of a product to try, the cheapest first; a run has values by name."""
    values = [run[node.input[0]] for run in runs]
    scales = _scales(node, values)
    scaled = Refinement(scales)
    w = runs[0][node.input[1]]
    if scales is not None and w.ndim > 1 and _is_exact(node, scales, w):
        yield scaled
        yield from _in_parts(scaled, [x * scales for x in values])
    yield from _in_parts(UNREFINED, values)


def _scales(node, values):
    """Return scales of the channels, None if all channels are about as large."""
    rank = values[0].ndim
    if "Conv" in node.op_type:
        channels = 1
    else:
        swapped = any(a.name == "transA" and a.i for a in node.attribute)
        channels = rank - (2 if swapped else 1)
    others = tuple(axis for axis in range(rank) if axis != channels)
    largest = np.max([np.abs(x).max(others, keepdims=True) for x in values], axis=0)
    if not np.isfinite(largest).all() or not largest.any():
        return None
    exponents = np.frexp(largest)[1]
    powers = np.where(largest, np.minimum(exponents.max() - exponents, _MOST), 0)
    return np.ldexp(np.float32(1), powers) if powers.any() else None


def _is_exact(node, scales, w):
    """Return True if scaling keeps all bits of the weights."""
    scales = of_weights(node, scales, w.shape)
    return np.array_equal(np.float32(w / scales) * scales, w)


def _in_parts(refinement, values):
    largest = max(float(np.abs(x).max(initial=0.0)) for x in values)
    if largest and np.isfinite(largest):
        unit = np.ldexp(1.0, np.frexp(largest)[1] - _HIGH_BITS)
        split = replace(refinement, unit=float(unit))
        if split.shift < np.finfo(np.float32).max / 2 and unit > np.finfo(np.float32).tiny:
            yield split


def refined(
    model: onnx.ModelProto, refinements: Mapping[str, Refinement], context: Context
) -> onnx.ModelProto:
    """Return the model with products rewritten.

    Args:
        model: the model.
        refinements: how to rewrite a node, by its first output.
        context: context of the conversion.
    """
    result = copied(model)
    nodes = list(result.graph.node)
    del result.graph.node[:]
    for node in nodes:
        refinement = refinements.get(node.output[0]) if node.output else None
        if refinement is None:
            result.graph.node.append(node)
        else:
            _Writer(result, node).write(refinement)
    del result.graph.value_info[:]
    return infer.infer(result, context)


class _Writer:
    """Write the nodes that replace one node.

    One of them keeps its name, and the others' names begin with it.
    """

    def __init__(self, model, node):
        self.graph, self.node, self.out = model.graph, node, node.output[0]
        self.constants = {t.name: t for t in model.graph.initializer}
        self.opset = opset_of(model, "")

    def write(self, refinement: Refinement) -> None:
        """Append the nodes of a refinement to the graph."""
        x, w = self.node.input[:2]
        if refinement.scales is not None:
            x, w = self._scaled(x, w, refinement.scales)
        self.node.input[1] = w
        if refinement.unit is None:
            self.node.input[0] = x
            self.graph.node.append(self.node)
            return
        near = self._clip("near", x, -refinement.limit, refinement.limit)
        shift = self._constant("shift", refinement.shift)
        high = self._add("Sub", "high", self._add("Add", "shifted", near, shift), shift)
        self._products(high, self._add("Sub", "low", x, high))

    def _scaled(self, x, w, scales):
        x = self._add("Mul", "scaled", x, self._constant("scales", scales))
        if w not in self.constants:
            by = 1 / of_weights(self.node, scales, (1, 1))  # of matrices: batches broadcast
            return x, self._add("Mul", "weights", w, self._constant("by", by))
        known = numpy_helper.to_array(self.constants[w])
        return x, self._constant("weights", known / of_weights(self.node, scales, known.shape))

    def _products(self, high, low):
        """Append the products of both parts, their sum and the node's activation.

        Args:
            high: name of the part of multiples of the unit.
            low: name of the rest.
        """
        attrs = {a.name: a for a in self.node.attribute}
        activation = attrs.get("activation")
        one, other = copied(self.node), self.node
        one.name, one.input[0] = f"{name_of(self.node)}/product of high", high
        other.name, other.input[0] = name_of(self.node), low
        del one.input[2:]
        for node, kind in ((one, "product of high"), (other, "product of low")):
            node.output[0] = self._named(kind)
            kept = [a for a in node.attribute if a.name not in _ACTIVATION]
            del node.attribute[:]
            node.attribute.extend(kept)
            if node.op_type == "FusedGemm":
                node.op_type, node.domain = "Gemm", ""
        self.graph.node.extend([one, other])
        total = self._add("Add", "sum", one.output[0], other.output[0])
        if activation is not None and activation.s:
            self._activate(total, activation.s.decode(), attrs)
        self.graph.node[-1].output[0] = self.out

    def _activate(self, x, kind, attrs):
        parameters = (
            list(attrs["activation_params"].floats) if "activation_params" in attrs else []
        )
        parameters = parameters or [attrs[name].f for name in _ACTIVATION[2:] if name in attrs]
        if kind == "Clip":
            self._clip("activated", x, *parameters)
        else:
            names = zip(("alpha", "beta"), parameters, strict=False)
            self._add(kind, "activated", x, **dict(names) if kind not in _PLAIN else {})

    def _clip(self, what, x, low=-np.inf, high=np.inf):
        if self.opset < 11:
            return self._add("Clip", what, x, min=low, max=high)
        limits = (self._constant(f"{what}/{i}", limit) for i, limit in enumerate((low, high)))
        return self._add("Clip", what, x, *limits)

    def _named(self, what):
        return f"{self.out}/{what}"

    def _add(self, op, what, *inputs, **attrs):
        """Append a node and return the name of its output."""
        name = f"{name_of(self.node)}/{what}"
        node = helper.make_node(op, list(inputs), [self._named(what)], name=name, **attrs)
        self.graph.node.append(node)
        return node.output[0]

    def _constant(self, what, values):
        t = numpy_helper.from_array(np.asarray(values, np.float32), self._named(what))
        self.graph.initializer.append(t)
        return t.name


_PLAIN = ("Relu", "Sigmoid", "Tanh")  # activations without parameters
