"""Nodes whose range of values block floating point cannot hold: they compute with floats; and
those for which short mantissas are too short: they stay exact.

1. Each product's first operand is rounded as a board does it, to 24 bits of the largest value of
   an image (Conv) or a row (Gemm, MatMul); its second one to 24 bits of the largest of a channel.
   Or both as --float fast16 has them; then recurrent layers, too, but for their states.
2. onnxruntime computes the model with and without that. Where no output differs by more than the
   bound of its largest magnitude, all is well.
3. Else the nodes leave one after another, the one with the largest error of its own first, until
   that is so. For 24 bits, an error is what the blocks alone lose: see wide.

The samples are those of the golden vector, or random ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..external_weights import array_of, nbytes_of
from ..ops import _short
from ..protos import copied, name_of, opset_of
from ..reference.ort_session import open_session
from . import wide
from .block_loss import axes_of_values, inner
from .finer import Form
from .narrow import PRODUCTS, RECURRENT, rounded_to, rounded_weights

_MOST_NBYTES = 64 << 20  # of weights; larger models would take minutes

Sample = Mapping[str, np.ndarray]


class Rounding:
    """To mantissas of 24 bits."""

    bound = 1e-5  # half of what a board may differ from onnxruntime: sums have errors of their own
    operators: tuple[str, ...] = PRODUCTS
    takes_values = True  # rows that only a run knows, in the place of weights
    is_wide_only = True  # whether what float32 loses, too, is no loss

    def bits(self, k: int) -> int:
        """Of the first operand's mantissas in rows of k items."""
        return 24

    def weights(self, w: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Weights with those along these axes rounded together."""
        return rounded_to(w, axes, 24)


class Seen(Rounding):
    """The same, where any change of an output counts: what is seen of 24 bits is too much of 15,
    as which --float fast16 has them.
    """

    is_wide_only = False


class Short(Rounding):
    """To short mantissas. bound: where the samples are not those of the user, twice as much."""

    operators = PRODUCTS + RECURRENT
    takes_values = False
    is_wide_only = False

    def __init__(self, is_known: bool):
        self.bound = 1e-3 if is_known else 2e-3

    def bits(self, k: int) -> int:
        """Return the bits that a product over k items leaves for each."""
        return _short.short_bits(k)

    def weights(self, w: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Return the weights as blocks see them."""
        places = range(-len(axes), 0)
        moved = np.moveaxis(w, axes, places)
        rows = moved.reshape(-1, math.prod(moved.shape[-len(axes) :]))
        return np.moveaxis(_short.nearest(rows).reshape(moved.shape), places, axes)


class Lossy(NamedTuple):
    """names: of nodes that are to leave; finer: forms for others, by their first output."""

    names: Sequence[str] = ()
    finer: Mapping[str, Form] = {}


NONE = Lossy()


def lossy(
    model: onnx.ModelProto,
    samples: Sequence[Sample],
    rounding: Rounding | None = None,
    but: Collection[str] = (),
) -> Lossy:
    """The nodes that the rounding (exact products' by default) is not for; none where onnxruntime
    is not there. but: names that do without it anyway.
    """
    rounding = rounding or Rounding()
    nodes = [n for n in model.graph.node if n.op_type in rounding.operators]
    nodes = [n for n in nodes if name_of(n) not in but]
    if not nodes or sum(nbytes_of(t) for t in model.graph.initializer) > _MOST_NBYTES:
        return NONE
    try:
        exact = _outputs(model, samples)
        names = [name_of(n) for n in nodes]
        if _error(model, names, samples, exact, rounding) <= rounding.bound:
            return NONE
        if rounding.is_wide_only:
            found = wide.found(model, nodes, samples, rounding.bound)
            errors = {n: _error(model, [n], samples, exact, rounding) for n in found.unlike}
            others = [name for name, error in errors.items() if error > rounding.bound]
            return Lossy(found.floats + others, found.finer)
        alone = {name: _error(model, [name], samples, exact, rounding) for name in names}
        left: list[str] = []
        for name in sorted(names, key=alone.__getitem__, reverse=True):
            left.append(name)
            if _error(model, set(names) - set(left), samples, exact, rounding) <= rounding.bound:
                break
        return Lossy(left, {})
    except Exception:  # not installed; the runtime's own kinds for what it does not support
        return NONE


def _outputs(model, samples):
    session = open_session(model)
    return [session.run(None, dict(sample)) for sample in samples]


def _error(model, names: Collection[str], samples, exact, rounding) -> float:
    """Largest difference of an output with these nodes' operands rounded, by its magnitude."""
    worst = 0.0
    for got, wanted in zip(
        _outputs(_rounded(model, names, rounding), samples), exact, strict=True
    ):
        for a, b in zip(got, wanted, strict=True):
            if isinstance(b, np.ndarray) and b.dtype.kind == "f" and b.size:
                magnitude = np.abs(b, dtype=np.float64).max()
                with np.errstate(invalid="ignore"):  # inf - inf: not finite is not looked at
                    difference = np.abs(np.subtract(a, b, dtype=np.float64)).max()
                if np.isfinite(magnitude) and magnitude:
                    worst = max(worst, float(difference / magnitude))
    return worst


def _rounded(model, names, rounding):
    """The model with the operands of these nodes rounded."""
    found = copied(model)
    constants = {t.name: t for t in found.graph.initializer}
    nodes = list(found.graph.node)
    del found.graph.node[:]
    for i, node in enumerate(nodes):
        if node.op_type in rounding.operators and name_of(node) in names:
            last = 3 if node.op_type in RECURRENT else 2
            weights = [constants.get(name) for name in node.input[1:last]]
            if None not in weights:
                _round_known(found, node, i, weights, rounding)
            elif rounding.takes_values and "Conv" not in node.op_type:
                for j, side in enumerate("AB"):
                    axes = [inner(node, side)]
                    node.input[j] = _emit(found, f"{i}/{j}", node.input[j], axes, rounding.bits(0))
        found.graph.node.append(node)
    return found


def _round_known(model, node, i, weights, rounding):
    """Has a node take rounded weights, and its first operand rounded."""
    recurrent, rank = node.op_type in RECURRENT, len(weights[0].dims)
    lengths = []

    def rounded(w, axes):
        lengths.append(math.prod(w.shape[axis] for axis in axes))
        return rounding.weights(w, axes)

    for j, t in enumerate(weights):
        w = array_of(t)
        found = rounded(w, (-1,)) if recurrent else rounded_weights(node, w, rounded)
        node.input[1 + j] = f"{i}/w{j}"
        model.graph.initializer.append(numpy_helper.from_array(found, node.input[1 + j]))
    axes = [-1] if recurrent else axes_of_values(node, rank)
    node.input[0] = _emit(model, f"{i}/x", node.input[0], axes, rounding.bits(lengths[0]))


def _emit(model, name, x, axes, bits):
    """Appends nodes that round x to mantissas with an exponent along these axes."""
    graph = model.graph

    def constant(value):
        key = f"{name}/{len(graph.initializer)}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(value), key))
        return key

    def apply(op, *inputs, **attrs):
        out = f"{name}/{op}{len(graph.node)}"
        graph.node.append(helper.make_node(op, list(inputs), [out], **attrs))
        return out

    def number(value):
        return constant(np.float32(value))

    size = apply("Abs", x)
    if opset_of(model, "") >= 18:
        size = apply("ReduceMax", size, constant(np.array(axes, np.int64)), keepdims=1)
    else:
        size = apply("ReduceMax", size, axes=list(axes), keepdims=1)
    power = apply("Div", apply("Log", apply("Max", size, number(1e-30))), number(np.log(2)))
    power = apply("Sub", apply("Floor", power), number(bits - 2))
    unit = apply("Pow", number(2), power)
    whole = apply("Floor", apply("Add", apply("Div", x, unit), number(0.5)))
    return apply("Mul", whole, unit)


def is_known(model: onnx.ModelProto) -> bool:
    """True if every input is a tensor of numbers with a fixed shape."""
    types = [i.type.tensor_type for i in model.graph.input]
    sizes = [d.HasField("dim_value") for t in types for d in t.shape.dim]
    return all(sizes) and all(
        t.elem_type not in (TensorProto.UNDEFINED, TensorProto.STRING) for t in types
    )
