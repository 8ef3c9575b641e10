"""Measure what quantization costs each layer: signal to noise in dB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import numpy_helper

from ..protos import attribute
from .activations import each_run
from .data import Sample

_DEQUANTIZED = "_DequantizeLinear_Output"  # behind the name of a tensor, in the quantizer's models
_CLIPPED = 0.001  # share of values outside the range above which a row says so
_NOISY = 15.0  # dB below which a row says so: an eighth of the signal's size is noise
# Operators that keep the values they are given, and such as belong to the layer before them.
_MOVING = ("Concat", "Flatten", "MaxPool", "Pad", "Reshape", "Slice", "Split", "Squeeze",
           "Transpose", "Unsqueeze")  # fmt: skip
_ACTIVATIONS = ("Clip", "LeakyRelu", "Relu")
_TRIMMED = 99.0  # per cent of the weights, the smaller ones, that the weights' figure looks at


@dataclass
class Layer:
    """Signal to noise of one layer in dB.

    Attributes:
        node: its name.
        operator: its operator.
        weights: that of its weights; None for a layer without any.
        output: that of its output, by its own rounding.
        total: that of its output, with the errors of all layers before.
        clipped: share of the output's values outside its range.
        hint: what is wrong, or "".
        scale: that of the output.
        zero_point: that of the output.
        weight_scales: the least and the greatest; None for a layer without weights.
    """

    node: str
    operator: str
    weights: float | None
    output: float
    total: float
    clipped: float
    hint: str = ""
    scale: float = 0.0
    zero_point: int = 0
    weight_scales: tuple[float, float] | None = None


@dataclass
class _Sums:
    """Energies over the samples."""

    signal: float = 0.0
    own: float = 0.0
    total: float = 0.0
    clipped: int = 0
    count: int = 0


@dataclass
class _Grid:
    """The integers of a tensor: x is about (q - zero) * scale, lowest <= q <= highest."""

    scale: np.ndarray
    zero: np.ndarray
    lowest: int
    highest: int
    sums: _Sums = field(default_factory=_Sums)


def layers(
    model: onnx.ModelProto, quantized: onnx.ModelProto, samples: Sequence[Sample]
) -> list[Layer]:
    """Return a row for each node whose result is quantized, the noisiest first."""
    grids = _grids(quantized.graph)
    outputs = {
        node.output[0]: node
        for node in model.graph.node
        if node.output[0] in grids and node.op_type not in _MOVING
    }
    runs = zip(each_run(model, samples), each_run(quantized, samples), strict=True)
    for floats, rounded in runs:
        for name in outputs:
            _add(grids[name], floats[name], rounded.get(name + _DEQUANTIZED, rounded.get(name)))
    weights = _weight_noise(model.graph, quantized.graph)
    scales = _weight_scales(quantized.graph)
    makers = {node.output[0]: node for node in model.graph.node}
    rows = []
    for name, node in outputs.items():
        while node.op_type in _ACTIVATIONS and node.input[0] in makers.keys() - grids.keys():
            node = makers[node.input[0]]  # they are one layer
        row = _row(node, grids[name].sums, weights)
        row.scale, row.zero_point = float(grids[name].scale), int(grids[name].zero)
        row.weight_scales = scales.get(node.input[1]) if len(node.input) > 1 else None
        rows.append(row)
    return sorted(rows, key=lambda row: row.total)


def _grids(graph):
    """Return by name in the float model the grid of each tensor that a QuantizeLinear takes."""
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    grids = {}
    for node in graph.node:
        if node.op_type == "QuantizeLinear" and set(node.input[1:]) <= set(constants):
            scale, zero = (constants[name] for name in node.input[1:3])
            limits = np.iinfo(zero.dtype)
            name = node.input[0].removesuffix("_QuantizeLinear_Input")
            grids[name] = _Grid(scale, zero.astype(np.int32), limits.min, limits.max)
    return grids


def _add(grid, x, seen):
    q = np.round(x / grid.scale) + grid.zero
    inside = np.clip(q, grid.lowest, grid.highest)
    grid.sums.signal += float(np.square(x, dtype=np.float64).sum())
    grid.sums.own += float(np.square((inside - grid.zero) * grid.scale - x).sum())
    grid.sums.total += float(np.square(seen - x, dtype=np.float64).sum())
    grid.sums.clipped += int((np.abs(q - inside) > 1).sum())
    grid.sums.count += x.size


def _row(node, sums, weights):
    noise = weights.get(node.input[1]) if len(node.input) > 1 else None
    own, total = _decibel(sums.signal, sums.own), _decibel(sums.signal, sums.total)
    clipped = sums.clipped / max(sums.count, 1)
    row = Layer(node.name, node.op_type, noise, own, total, clipped)
    if noise is not None and noise < _NOISY:
        row.hint = "few weights are far larger than the others"
    elif clipped > _CLIPPED:
        row.hint = f"{clipped:.1%} of the output saturate"
    elif own < _NOISY:
        row.hint = "few values are far larger than the others"
    return row


def _weight_scales(quantized):
    """Return by name of a weight its least and its greatest scale."""
    constants = {t.name: t for t in quantized.initializer}
    scales = {}
    for node in quantized.node:
        if node.op_type == "DequantizeLinear" and set(node.input) <= set(constants):
            scale = numpy_helper.to_array(constants[node.input[1]])
            name = node.input[0].removesuffix("_quantized")
            scales[name] = float(scale.min()), float(scale.max())
    return scales


def _weight_noise(graph, quantized):
    """Return by name of a weight its signal to noise in dB, without the largest hundredth.

    An outlier would hide the noise that its range brings to the others.
    """
    constants = {t.name: t for t in quantized.initializer}
    dequantized = {}
    for node in quantized.node:
        if node.op_type == "DequantizeLinear" and set(node.input) <= set(constants):
            axis = attribute(node, "axis", 1)
            q, scale, zero = (numpy_helper.to_array(constants[name]) for name in node.input[:3])
            shape = [-1 if i == axis else 1 for i in range(q.ndim)] if scale.size > 1 else []
            zero, scale = zero.astype(np.int32).reshape(shape), scale.reshape(shape)
            name = node.input[0].removesuffix("_quantized")
            dequantized[name] = (q.astype(np.int32) - zero) * scale
    decibels = {}
    for t in graph.initializer:
        if t.name in dequantized and t.dims:
            w = numpy_helper.to_array(t)
            kept = np.abs(w) <= np.percentile(np.abs(w), _TRIMMED)
            noise = np.square((dequantized[t.name] - w)[kept]).sum()
            decibels[t.name] = _decibel(np.square(w[kept]).sum(), noise)
    return decibels


def _decibel(signal, noise):
    tiny = np.finfo(np.float64).tiny
    return float(10 * np.log10(max(signal, tiny) / max(noise, tiny * 1e30, signal * 1e-12)))
