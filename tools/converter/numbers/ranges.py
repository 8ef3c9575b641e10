"""Find nodes whose values range too widely for block floating point, or for short mantissas.

The former compute with floats or refined exponents, the latter stay exact.

1. The first operand of each product is rounded as a board does it: to 24 bits of the largest value
   of an image (Conv) or a row (Gemm, MatMul). The second is rounded to 24 bits of the largest
   value of a channel. For --float fast16, both are rounded to short mantissas instead, in
   recurrent layers too, but for their states.
2. onnxruntime runs the model with and without rounding. If no output differs by more than the
   bound, relative to its largest magnitude, no node is excluded.
3. Otherwise nodes are excluded one by one, those with the largest error first, until that holds.
   For 24 bits, an error is what blocks lose more than float32: see wide.

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
from .narrow import PRODUCTS, RECURRENT, rounded_to, rounded_weights
from .refinements import Refinement

_MOST_NBYTES = 64 << 20  # of weights; larger models would take minutes

Sample = Mapping[str, np.ndarray]


class Rounding:
    """Rounding to mantissas of 24 bits, with one exponent per block."""

    bound = 1e-5  # half of a board's tolerance: sums have errors of their own
    operators: tuple[str, ...] = PRODUCTS
    takes_values = True  # also rounds second operands that only a run knows
    is_wide_only = True  # ignores losses that float32 has too

    def bits(self, k: int) -> int:
        """Return the bits of the first operand's mantissas in rows of k elements."""
        return 24

    def weights(self, w: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Round weights to mantissas; weights along these axes share an exponent."""
        return rounded_to(w, axes, 24)


class Seen(Rounding):
    """Rounding to 24 bits, where any change of an output counts.

    A loss that is visible with 24 bits is too large with the 15 bits of --float fast16.
    """

    is_wide_only = False


class Short(Rounding):
    """Rounding to short mantissas. The bound is twice as large if the samples are random."""

    operators = PRODUCTS + RECURRENT
    takes_values = False
    is_wide_only = False

    def __init__(self, is_known: bool):
        self.bound = 1e-3 if is_known else 2e-3

    def bits(self, k: int) -> int:
        """Return the bits that a product over k elements leaves for each mantissa."""
        return _short.short_bits(k)

    def weights(self, w: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Round weights as blocks of short mantissas represent them."""
        last_axes = range(-len(axes), 0)
        moved = np.moveaxis(w, axes, last_axes)
        rows = moved.reshape(-1, math.prod(moved.shape[-len(axes) :]))
        return np.moveaxis(_short.nearest(rows).reshape(moved.shape), last_axes, axes)


class Lossy(NamedTuple):
    """The products that lose too much by rounding to mantissas.

    Attributes:
        names: names of nodes that must compute with floats.
        refinements: how other nodes are rewritten, by their first output.
    """

    names: Sequence[str] = ()
    refinements: Mapping[str, Refinement] = {}


NONE = Lossy()


def lossy(
    model: onnx.ModelProto,
    samples: Sequence[Sample],
    rounding: Rounding | None = None,
    but: Collection[str] = (),
) -> Lossy:
    """Return the products for which a rounding loses too much on samples.

    Returns NONE if no product does, or if onnxruntime does not run the model.

    Args:
        model: a model of floats.
        samples: values of the inputs by name.
        rounding: by default Rounding(), for exact products.
        but: names of nodes that are excluded anyway.
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
            choice = wide.choose(model, nodes, samples, rounding.bound)
            errors = {n: _error(model, [n], samples, exact, rounding) for n in choice.unlike}
            others = [name for name, error in errors.items() if error > rounding.bound]
            return Lossy(choice.floats + others, choice.refinements)
        alone = {name: _error(model, [name], samples, exact, rounding) for name in names}
        excluded: list[str] = []
        for name in sorted(names, key=alone.__getitem__, reverse=True):
            excluded.append(name)
            others = set(names) - set(excluded)
            if _error(model, others, samples, exact, rounding) <= rounding.bound:
                break
        return Lossy(excluded, {})
    except Exception:  # not installed, or one of onnxruntime's kinds for unsupported models
        return NONE


def _outputs(model, samples):
    session = open_session(model)
    return [session.run(None, dict(sample)) for sample in samples]


def _error(model, names: Collection[str], samples, exact, rounding) -> float:
    """Return the largest relative change of any output if these nodes' operands are rounded.

    Args:
        model: the model.
        names: names of the nodes.
        samples: values of the inputs by name.
        exact: the outputs without rounding, for each sample.
        rounding: the Rounding.
    """
    worst = 0.0
    for got, expected in zip(
        _outputs(_rounded(model, names, rounding), samples), exact, strict=True
    ):
        for a, b in zip(got, expected, strict=True):
            if isinstance(b, np.ndarray) and b.dtype.kind == "f" and b.size:
                magnitude = np.abs(b, dtype=np.float64).max()
                with np.errstate(invalid="ignore"):  # inf - inf; such outputs are skipped
                    difference = np.abs(np.subtract(a, b, dtype=np.float64)).max()
                if np.isfinite(magnitude) and magnitude:
                    worst = max(worst, float(difference / magnitude))
    return worst


def _rounded(model, names, rounding):
    """Return the model with the operands of these nodes rounded."""
    result = copied(model)
    constants = {t.name: t for t in result.graph.initializer}
    nodes = list(result.graph.node)
    del result.graph.node[:]
    for i, node in enumerate(nodes):
        if node.op_type in rounding.operators and name_of(node) in names:
            last = 3 if node.op_type in RECURRENT else 2
            weights = [constants.get(name) for name in node.input[1:last]]
            if None not in weights:
                _round_known(result, node, i, weights, rounding)
            elif rounding.takes_values and "Conv" not in node.op_type:
                for j, side in enumerate("AB"):
                    axes = [inner(node, side)]
                    node.input[j] = _emit(
                        result, f"{i}/{j}", node.input[j], axes, rounding.bits(0)
                    )
        result.graph.node.append(node)
    return result


def _round_known(model, node, i, weights, rounding):
    """Round the constant weights of a node, and insert nodes that round its first operand.

    Args:
        model: the model; changed.
        node: the node.
        i: number that makes names of new values unique.
        weights: the weights.
        rounding: the Rounding.
    """
    recurrent, rank = node.op_type in RECURRENT, len(weights[0].dims)
    lengths = []

    def rounded(w, axes):
        lengths.append(math.prod(w.shape[axis] for axis in axes))
        return rounding.weights(w, axes)

    for j, t in enumerate(weights):
        w = array_of(t)
        after = rounded(w, (-1,)) if recurrent else rounded_weights(node, w, rounded)
        node.input[1 + j] = f"{i}/w{j}"
        model.graph.initializer.append(numpy_helper.from_array(after, node.input[1 + j]))
    axes = [-1] if recurrent else axes_of_values(node, rank)
    node.input[0] = _emit(model, f"{i}/x", node.input[0], axes, rounding.bits(lengths[0]))


def _emit(model, name, x, axes, bits):
    """Append nodes that round x to mantissas with one exponent along axes; return the result.

    Args:
        model: the model; changed.
        name: beginning of the nodes' names.
        x: name of the value.
        axes: axes along which elements share an exponent.
        bits: bits of a mantissa.
    """
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
    """Return True if every input is a tensor of numbers with a fixed shape."""
    types = [i.type.tensor_type for i in model.graph.input]
    sizes = [d.HasField("dim_value") for t in types for d in t.shape.dim]
    return all(sizes) and all(
        t.elem_type not in (TensorProto.UNDEFINED, TensorProto.STRING) for t in types
    )
