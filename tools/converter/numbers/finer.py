"""Finer exponents for a node whose values are of too many sizes for one: the same products.

    scaled    Each channel (item of a row) times a power of two of its own, so that all are about
              as large, and its weights by that: an exponent a channel, for one Mul. No bit of the
              values or weights changes.
    in parts  The values as multiples of a power of two, and what these leave of them. Both are
              products of blocks, and the exponent of the rest is finer; then they are added. This
              is for values of all sizes beside each other, and costs both products.

Powers are those that fit the samples. Values that are larger in a run share their exponents with
others, as they do in a node that is as it was.
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

_HIGH_BITS = 12  # of the parts that are multiples
_ROOM = 10  # as many times, as a power of two, a value may be larger than in the samples
_MOST = 100  # of a scale's exponent
_ACTIVATION = ("activation", "activation_params", "activation_alpha", "activation_beta")


@dataclass(frozen=True)
class Form:
    """scales: of the first operand, powers of two in a shape that broadcasts to it; unit: what
    the first part has multiples of. None: not so.
    """

    scales: np.ndarray | None = None
    unit: float | None = None

    @property
    def said(self) -> str:
        """What a user should know of it."""
        scaled = ["each channel times a power of two"] if self.scales is not None else []
        return " and ".join(scaled + ["in two parts"] * (self.unit is not None))

    def operands(self, node: NodeProto, x: np.ndarray, w: np.ndarray):
        """Both operands, scaled."""
        if self.scales is None:
            return x, w
        return x * self.scales, w / of_weights(node, self.scales, w.shape)

    def parts(self, x: np.ndarray) -> list[np.ndarray]:
        """What a board makes of a scaled operand."""
        if self.unit is None:
            return [x]
        most, shift = np.float32(self.limit), np.float32(self.shift)
        high = (np.clip(np.float32(x), -most, most) + shift) - shift
        return [np.float64(high), np.float64(np.float32(x) - high)]

    @property
    def limit(self) -> float:
        """The largest value that is made multiples of."""
        return self.unit * 2.0 ** (_HIGH_BITS + _ROOM)

    @property
    def shift(self) -> float:
        """What has the unit as its last place: added to a value, it leaves multiples."""
        return self.unit * 1.5 * 2.0**23


WHOLE = Form()


def of_weights(node: NodeProto, scales: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The scales in a shape that broadcasts to weights of this shape."""
    if node.op_type == "ConvTranspose":
        return scales.reshape(-1, *[1] * (len(shape) - 1))
    if "Conv" not in node.op_type:
        swapped = any(a.name == "transB" and a.i for a in node.attribute)
        return scales.ravel() if swapped or len(shape) == 1 else scales.reshape(-1, 1)
    groups = scales.size // shape[1]
    by_group = scales.reshape(groups, 1, shape[1])
    rows = np.broadcast_to(by_group, (groups, shape[0] // groups, shape[1]))
    return rows.reshape(*shape[:2], *[1] * (len(shape) - 2))


def forms_of(node: NodeProto, runs: Sequence[Mapping[str, np.ndarray]]) -> Iterator[Form]:
    """The forms to try, the cheapest first. runs: the values of the samples by name."""
    values = [run[node.input[0]] for run in runs]
    scales = _scales(node, values)
    scaled = Form(scales)
    w = runs[0][node.input[1]]
    if scales is not None and w.ndim > 1 and _is_exact(node, scales, w):
        yield scaled
        yield from _in_parts(scaled, [x * scales for x in values])
    yield from _in_parts(WHOLE, values)


def _scales(node, values):
    """None if all channels are about as large."""
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
    less = np.where(largest, np.minimum(exponents.max() - exponents, _MOST), 0)
    return np.ldexp(np.float32(1), less) if less.any() else None


def _is_exact(node, scales, w):
    """Whether weights keep all bits."""
    scales = of_weights(node, scales, w.shape)
    return np.array_equal(np.float32(w / scales) * scales, w)


def _in_parts(form, values):
    largest = max(float(np.abs(x).max(initial=0.0)) for x in values)
    if largest and np.isfinite(largest):
        unit = np.ldexp(1.0, np.frexp(largest)[1] - _HIGH_BITS)
        found = replace(form, unit=float(unit))
        if found.shift < np.finfo(np.float32).max / 2 and unit > np.finfo(np.float32).tiny:
            yield found


def rewritten(
    model: onnx.ModelProto, forms: Mapping[str, Form], context: Context
) -> onnx.ModelProto:
    """The model with these forms of nodes, by their first output."""
    done = copied(model)
    nodes = list(done.graph.node)
    del done.graph.node[:]
    for node in nodes:
        form = forms.get(node.output[0]) if node.output else None
        if form is None:
            done.graph.node.append(node)
        else:
            _Writer(done, node).write(form)
    del done.graph.value_info[:]
    return infer.infer(done, context)


class _Writer:
    """Writes nodes in the place of one. It keeps its name, and others' names begin with that."""

    def __init__(self, model, node):
        self.graph, self.node, self.out = model.graph, node, node.output[0]
        self.constants = {t.name: t for t in model.graph.initializer}
        self.opset = opset_of(model, "")

    def write(self, form: Form) -> None:
        """Append them."""
        x, w = self.node.input[:2]
        if form.scales is not None:
            x, w = self._scaled(x, w, form.scales)
        self.node.input[1] = w
        if form.unit is None:
            self.node.input[0] = x
            self.graph.node.append(self.node)
            return
        near = self._clip("near", x, -form.limit, form.limit)
        shift = self._constant("shift", form.shift)
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
        """The node of both, and what it does with their sum."""
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
        given = list(attrs["activation_params"].floats) if "activation_params" in attrs else []
        given = given or [attrs[name].f for name in _ACTIVATION[2:] if name in attrs]
        if kind == "Clip":
            self._clip("activated", x, *given)
        else:
            names = zip(("alpha", "beta"), given, strict=False)
            self._add(kind, "activated", x, **dict(names) if kind not in _PLAIN else {})

    def _clip(self, what, x, low=-np.inf, high=np.inf):
        if self.opset < 11:
            return self._add("Clip", what, x, min=low, max=high)
        limits = (self._constant(f"{what}/{i}", limit) for i, limit in enumerate((low, high)))
        return self._add("Clip", what, x, *limits)

    def _named(self, what):
        return f"{self.out}/{what}"

    def _add(self, op, what, *inputs, **attrs):
        """Its output's name."""
        name = f"{name_of(self.node)}/{what}"
        node = helper.make_node(op, list(inputs), [self._named(what)], name=name, **attrs)
        self.graph.node.append(node)
        return node.output[0]

    def _constant(self, what, values):
        t = numpy_helper.from_array(np.asarray(values, np.float32), self._named(what))
        self.graph.initializer.append(t)
        return t.name


_PLAIN = ("Relu", "Sigmoid", "Tanh")  # activations without numbers
