"""Round weights of products to 16, 8 or 4 bits (--weights); everything else stays float32.

1. Constant weights of Conv, ConvTranspose, Gemm, MatMul, their fused forms, LSTM, GRU and RNN are
   rounded to integers of so many bits, times a power of two for each output channel.
2. The power is the one that suffices for the channel's largest weight, or half of it, which clips
   that weight: whichever has the smaller squared error.
3. Weights that another node uses too stay as they are.
4. Weights of a MatMul that are integers of so many bits already, times one number per column (as
   DequantizeLinear outputs them), become these integers, and a Mul by the numbers follows.
5. With f16, recurrent layers get float16 weights and biases instead. The file stores floats as
   float16 where nothing is lost by it; a board converts them to float32 as it reads.

The result is still a float model. Block floating point represents such weights without loss in as
many bits (see ops/_block.py), so onnxruntime computes with it what a board does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..ir import Graph, Tensor
from ..protos import copied, name_of
from ..quantize.activations import each_run
from ..reference import golden
from ..shapes import extent_forms

_NEAR = 2.0**-13  # relative distance from an integer: the rounding of floats
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
RECURRENT = ("LSTM", "GRU", "RNN")
PRODUCTS = ("Conv", "FusedConv", "ConvTranspose", "Gemm", "FusedGemm", "MatMul", "FusedMatMul")


@dataclass
class Row:
    """The noise of one layer.

    Attributes:
        node: name of the node.
        operator: its operator type.
        value: name of its output.
        weights: signal to noise of its weights in dB.
        output: signal to noise of its output in dB with the errors of all layers so far; None if
            onnxruntime did not run the model.
    """

    node: str
    operator: str
    value: str
    weights: float
    output: float | None = None


def narrow(
    model: onnx.ModelProto, bits: int, sample: Mapping[str, np.ndarray], halves: bool = False
) -> tuple[onnx.ModelProto, list[Row]]:
    """Return the model with rounded weights, and its layers, the noisiest first.

    Args:
        model: a model of floats.
        bits: bits of a weight.
        sample: values of the inputs, with which outputs are compared.
        halves: give recurrent layers float16 weights.
    """
    rounded = copied(model)
    rows, scaled = [], []
    constants = {t.name: t for t in rounded.graph.initializer}
    for node in rounded.graph.node:
        if node.op_type in RECURRENT:
            rows += _round_recurrent(rounded.graph, node, constants, None if halves else bits)
        if node.op_type not in PRODUCTS or not _is_alone(rounded.graph, node, constants):
            continue
        t = constants[node.input[1]]
        before = numpy_helper.to_array(t)
        if node.op_type == "MatMul" and (levels := _levels(before, bits)) is not None:
            t.CopyFrom(numpy_helper.from_array(levels[0], t.name))
            scaled.append((node, levels[1]))
            rows.append(Row(name_of(node), node.op_type, node.output[0], _decibel(0, 0)))
            continue
        after = rounded_weights(node, before, partial(rounded_to, bits=bits)).astype(before.dtype)
        t.CopyFrom(numpy_helper.from_array(after, t.name))
        noise = _decibel(before, after)
        rows.append(Row(name_of(node), node.op_type, node.output[0], noise))
    for node, scales in scaled:
        _scale(rounded.graph, node, scales)
    _compare(model, rounded, rows, sample)
    return rounded, sorted(rows, key=lambda row: row.weights if row.output is None else row.output)


def narrow_recurrent(model: onnx.ModelProto, bits: int, but: Collection[str] = ()) -> list[Row]:
    """Round the weights of recurrent layers, which no quantizer makes integers of, in place.

    Args:
        model: the model; changed.
        bits: bits of a weight.
        but: names of layers that stay as they are.

    Returns:
        The layers that were rounded.
    """
    constants = {t.name: t for t in model.graph.initializer}
    layers = [n for n in model.graph.node if n.op_type in RECURRENT and n.name not in but]
    return [row for n in layers for row in _round_recurrent(model.graph, n, constants, bits)]


def _levels(w: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (integers, a scale for each column) whose product is w (K, N) exactly, or None.

    The largest integer of each column has at most `bits` bits.
    """
    most = (1 << bits - 1) - 1
    if w.ndim != 2 or w.dtype != np.float32 or bits > 8 or not np.isfinite(w).all():
        return None
    wide = w.astype(np.float64)
    largest = np.abs(wide).max(0)
    parts = wide / np.where(largest, largest, 1.0)
    steps = np.zeros(w.shape[1])
    for step in range(1, most + 1):
        rest = np.flatnonzero(steps == 0)
        scaled = parts[:, rest] * step
        steps[rest[(np.abs(scaled - np.rint(scaled)) < _NEAR).all(0)]] = step
    if not steps.all():
        return None
    scales = np.where(largest, largest, 1.0) / steps
    return np.rint(parts * steps).astype(np.float32), scales.astype(np.float32)


def _scale(graph, node, scales):
    """Insert a Mul by constant scales behind a node."""
    out = node.output[0]
    node.output[0] = f"{out}/levels"
    graph.initializer.append(numpy_helper.from_array(scales, f"{out}/scales"))
    mul = helper.make_node("Mul", [node.output[0], f"{out}/scales"], [out], name=f"{out}/scaled")
    graph.node.insert(list(graph.node).index(node) + 1, mul)
    for value in [*graph.value_info, *graph.output]:
        if value.name == out:
            known = graph.value_info.add()
            known.CopyFrom(value)
            known.name = node.output[0]
            return


def _round_recurrent(graph, node, constants, bits):
    """Round W and R of a recurrent layer.

    If only the sum of both biases counts, they are replaced by their sum and 0: the file has the
    sum behind W's rows.

    Args:
        graph: the graph; changed.
        node: the layer.
        constants: tensors by name.
        bits: bits of a weight; None for float16, and then biases are rounded too.

    Returns:
        The layer's row for the report, as a list; [] if its weights cannot be rounded.
    """
    separate = any(a.name == "linear_before_reset" and a.i for a in node.attribute)
    uses = [name for other in graph.node for name in other.input]
    pairs = []
    for i, name in enumerate(node.input[1 : 3 if bits else 4]):
        t = constants.get(name)
        if t is None or t.data_type != onnx.TensorProto.FLOAT or uses.count(name) > 1:
            continue
        before = numpy_helper.to_array(t)
        if i == 2 and not separate:
            before = _summed(before)
        after = rounded_to(before, -1, bits) if bits else _halves(before)
        if np.isfinite(after).all():
            t.CopyFrom(numpy_helper.from_array(after, name))
            pairs.append((before.ravel(), after.ravel()))
    if not pairs:
        return []
    noise = _decibel(*map(np.concatenate, zip(*pairs, strict=True)))
    value = next(name for name in node.output if name)
    return [Row(name_of(node) or value, node.op_type, value, noise)]


def _halves(values):
    """Round float32 to float16; values that are too large become inf."""
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)


def _summed(b):
    """Replace biases of W and R (D, 2 * n) by their sum, then zeros."""
    w, r = np.split(b, 2, axis=1)
    return np.concatenate([w + r, np.zeros_like(r)], axis=1)


def mark_halves(graph: Graph) -> None:
    """Mark the float constants that float16 represents without loss, for streamed weights."""
    for t in graph.tensors():
        if t.root.data is not None and t.dtype == onnx.TensorProto.FLOAT:
            t.root.halves = np.array_equal(_halves(t.root.data), t.root.data)


def sample_of(
    model: onnx.ModelProto,
    inputs: Sequence[np.ndarray] | None,
    states: Collection[str],
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return values of a model's inputs by name.

    Args:
        model: a model whose inputs have fixed or bounded shapes.
        inputs: values, or None for random ones.
        states: names of inputs that are states; they get zeros.
        seed: seed of the random values.
    """
    infos = [i for i in model.graph.input if i.name not in states]
    if inputs is None:
        inputs = golden.random_values((_tensor(i) for i in infos), seed)
    sample = dict(zip((i.name for i in infos), inputs, strict=True))
    zeros = {i.name: _tensor(i) for i in model.graph.input if i.name in states}
    return sample | {name: np.zeros(t.shape, t.np_dtype) for name, t in zeros.items()}


def _tensor(info):
    """Return the tensor of an input; a dim that each run decides gets its bound."""
    t = info.type.tensor_type
    dims = (d.dim_value or int(extent_forms.parsed(d.dim_param) or 0) for d in t.shape.dim)
    return Tensor(info.name, t.elem_type, tuple(dims))


def _is_alone(graph, node, constants):
    """Return True if the second input is a float constant that no other node uses."""
    t = constants.get(node.input[1])
    if t is None or t.data_type not in _FLOATS or not all(t.dims) or not t.dims:
        return False
    uses = sum(list(other.input).count(t.name) for other in graph.node)
    return uses == 1 and t.name not in {o.name for o in graph.output}


def rounded_weights(node, w, rounding: Callable):
    """Return a node's weights, rounded by output channel.

    Args:
        node: the product.
        w: its weights.
        rounding: function of weights and of the axes that one channel's weights span.
    """
    attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "ConvTranspose":  # (C, M / groups, ...): the channels come second
        groups = attrs.get("group", 1)
        by_group = w.reshape(groups, w.shape[0] // groups, w.shape[1], -1)
        return rounding(by_group, (1, 3)).reshape(w.shape)
    if "Conv" in node.op_type:
        return rounding(w, tuple(range(1, w.ndim)))
    columns = attrs.get("transB", 0) or w.ndim == 1
    return rounding(w, (-1 if columns else -2,))


def rounded_to(w: np.ndarray, axes: int | tuple[int, ...], bits: int) -> np.ndarray:
    """Round w to integers of `bits` bits times a power of two, which weights along axes share."""
    w = np.asarray(w, np.float64)
    most = (1 << bits - 1) - 1
    power = np.frexp(np.abs(w).max(axes, keepdims=True))[1] - (bits - 1)
    tries = []
    for halvings in (0, 1):
        unit = np.ldexp(1.0, power - halvings)
        tries.append(np.clip(np.rint(w / unit), -most, most) * unit)
    errors = [np.square(t - w).sum(axes, keepdims=True) for t in tries]
    return np.where(errors[0] <= errors[1], *tries).astype(np.float32)


def _compare(model, rounded, rows, sample):
    """Set the noise of the layers' outputs in their rows, if onnxruntime runs both models.

    Args:
        model: the model before rounding.
        rounded: the model after it.
        rows: rows of the report; changed.
        sample: values of the inputs by name.
    """
    try:
        [a], [b] = each_run(model, [sample]), each_run(rounded, [sample])
    except Exception:  # not installed, or one of onnxruntime's kinds for unsupported models
        return
    for row in rows:
        if row.value in a:
            row.output = _decibel(a[row.value], b[row.value])


def _decibel(a, b):
    """Return the signal to noise ratio of b, whose exact value is a."""
    signal = float(np.square(a, dtype=np.float64).sum())
    noise = float(np.square(np.subtract(a, b, dtype=np.float64)).sum())
    return float(10 * np.log10(max(signal, 1e-300) / max(noise, signal * 1e-15, 1e-300)))
