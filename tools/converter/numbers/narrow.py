"""--weights: weights of products in 16, 8 or 4 bits; all else is computed in float32 as ever.

1. Constant weights of Conv, ConvTranspose, Gemm, MatMul, their fused forms, LSTM, GRU and RNN are
   rounded to integers of so many bits times a power of two, one an output channel.
2. The power is the one that suffices for the channel's largest weight, or half of it, which cuts
   that one, whichever has the lesser squared error.
3. Weights that something else uses too stay as they are.
4. Weights of a MatMul that are integers of so many bits already, times any number, one a column
   (as DequantizeLinear makes them), stay these integers: a Mul behind it has the numbers.
5. With f16 recurrent layers get float16 instead, biases as well. The file holds floats so where
   nothing is lost by it; a board makes float32 of them as it reads.

What comes out is a float model still. Block floating point holds such weights without loss in as
many bits (see ops/_block.py), so what onnxruntime computes with it is what a board does.
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

BITS = {"f32": 24, "f16": 16, "int16": 16, "int8": 8, "int4": 4}  # by what --weights says

_NEAR = 2.0**-13  # of an integer: floats have that much of theirs
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
RECURRENT = ("LSTM", "GRU", "RNN")
PRODUCTS = ("Conv", "FusedConv", "ConvTranspose", "Gemm", "FusedGemm", "MatMul", "FusedMatMul")


@dataclass
class Row:
    """A layer: signal to noise in dB of its weights, and of its output with the errors of all
    layers before (None where onnxruntime is not there); value: its output's name.
    """

    node: str
    operator: str
    value: str
    weights: float
    output: float | None = None


def narrow(
    model: onnx.ModelProto, bits: int, sample: Mapping[str, np.ndarray], halves: bool = False
) -> tuple[onnx.ModelProto, list[Row]]:
    """The model with rounded weights, and its layers, the noisiest first.

    sample: values of the inputs, with which the outputs are compared; halves: recurrent layers
    get weights that float16 holds.
    """
    found = copied(model)
    rows, scaled = [], []
    constants = {t.name: t for t in found.graph.initializer}
    for node in found.graph.node:
        if node.op_type in RECURRENT:
            rows += _round_recurrent(found.graph, node, constants, None if halves else bits)
        if node.op_type not in PRODUCTS or not _is_alone(found.graph, node, constants):
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
        _scale(found.graph, node, scales)
    _compare(model, found, rows, sample)
    return found, sorted(rows, key=lambda row: row.weights if row.output is None else row.output)


def _levels(w: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(integers, a number a column) that make w (K, N), of which each column has a largest integer
    of at most so many bits; None where they do not.
    """
    most = (1 << bits - 1) - 1
    if w.ndim != 2 or w.dtype != np.float32 or bits > 8 or not np.isfinite(w).all():
        return None
    wide = w.astype(np.float64)
    largest = np.abs(wide).max(0)
    parts = wide / np.where(largest, largest, 1.0)
    steps = np.zeros(w.shape[1])
    for step in range(1, most + 1):
        left = np.flatnonzero(steps == 0)
        scaled = parts[:, left] * step
        steps[left[(np.abs(scaled - np.rint(scaled)) < _NEAR).all(0)]] = step
    if not steps.all():
        return None
    scales = np.where(largest, largest, 1.0) / steps
    return np.rint(parts * steps).astype(np.float32), scales.astype(np.float32)


def _scale(graph, node, scales):
    """Puts a Mul by these numbers behind a node."""
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
    """Rounds a recurrent layer's W and R; its row, or none where that is not possible.

    bits: None for float16, and then of the biases too. The two of these become their sum and 0
    where only that counts: it lies behind W's rows.
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
    """float32 rounded to float16; inf for what is too large."""
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)


def _summed(b):
    """Biases of W and R (D, 2 * n): their sum, then zeros."""
    w, r = np.split(b, 2, axis=1)
    return np.concatenate([w + r, np.zeros_like(r)], axis=1)


def mark_halves(graph: Graph) -> None:
    """Has a file hold floats as float16 where nothing is lost, if they may be streamed."""
    for t in graph.tensors():
        if t.root.data is not None and t.dtype == onnx.TensorProto.FLOAT:
            t.root.halves = np.array_equal(_halves(t.root.data), t.root.data)


def sample_of(
    model: onnx.ModelProto,
    inputs: Sequence[np.ndarray] | None,
    states: Collection[str],
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Values of a model's inputs by name: these, or random ones; zero for states."""
    infos = [i for i in model.graph.input if i.name not in states]
    if inputs is None:
        inputs = golden.random_values((_tensor(i) for i in infos), seed)
    sample = dict(zip((i.name for i in infos), inputs, strict=True))
    zeros = {i.name: _tensor(i) for i in model.graph.input if i.name in states}
    return sample | {name: np.zeros(t.shape, t.np_dtype) for name, t in zeros.items()}


def _tensor(info):
    """A dim that each run decides is the most that it can be."""
    t = info.type.tensor_type
    dims = (d.dim_value or int(extent_forms.parsed(d.dim_param) or 0) for d in t.shape.dim)
    return Tensor(info.name, t.elem_type, tuple(dims))


def _is_alone(graph, node, constants):
    """True if its second input is a float constant that no other node uses."""
    t = constants.get(node.input[1])
    if t is None or t.data_type not in _FLOATS or not all(t.dims) or not t.dims:
        return False
    uses = sum(list(other.input).count(t.name) for other in graph.node)
    return uses == 1 and t.name not in {o.name for o in graph.output}


def rounded_weights(node, w, rounding: Callable):
    """The weights of a node with each output channel's rounded, by rounding(w, axes): along these
    axes lie a channel's weights.
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
    """w as integers of so many bits times a power of two that is one along these axes."""
    w = np.asarray(w, np.float64)
    most = (1 << bits - 1) - 1
    power = np.frexp(np.abs(w).max(axes, keepdims=True))[1] - (bits - 1)
    tries = []
    for less in (0, 1):
        unit = np.ldexp(1.0, power - less)
        tries.append(np.clip(np.rint(w / unit), -most, most) * unit)
    errors = [np.square(t - w).sum(axes, keepdims=True) for t in tries]
    return np.where(errors[0] <= errors[1], *tries).astype(np.float32)


def _compare(model, rounded, rows, sample):
    """Fills in the noise of the layers' outputs, as far as onnxruntime runs the models."""
    try:
        [a], [b] = each_run(model, [sample]), each_run(rounded, [sample])
    except Exception:  # not installed; the runtime's own kinds for what it does not support
        return
    for row in rows:
        if row.value in a:
            row.output = _decibel(a[row.value], b[row.value])


def _decibel(a, b):
    """Signal to noise of b, which should be a."""
    signal = float(np.square(a, dtype=np.float64).sum())
    noise = float(np.square(np.subtract(a, b, dtype=np.float64)).sum())
    return float(10 * np.log10(max(signal, 1e-300) / max(noise, signal * 1e-15, 1e-300)))
