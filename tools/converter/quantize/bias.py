"""Empirical bias correction (Nagel et al. 2019, "Data-Free Quantization", section 4.2).

Rounded weights shift the mean of a layer's output; the shift over the calibration samples is
taken out of the layer's bias.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from ..protos import copied
from .activations import each_run
from .data import Sample


def corrected(
    model: onnx.ModelProto, quantized: onnx.ModelProto, samples: Sequence[Sample]
) -> onnx.ModelProto:
    """Return a copy of the float model whose Conv and Gemm biases offset the rounding."""
    copy = copied(model)
    constants = {t.name: t for t in copy.graph.initializer}
    nodes = {n.name: n for n in model.graph.node if _bias(n) in constants and n.name}
    outputs = {n.name: n.output[0] for n in quantized.graph.node if n.name in nodes}
    expected = _means(model, {name: nodes[name].output[0] for name in outputs}, samples)
    seen = _means(quantized, outputs, samples)
    for name in expected.keys() & seen.keys():
        t = constants[_bias(nodes[name])]
        bias = numpy_helper.to_array(t)
        if bias.size == expected[name].size:
            shift = (expected[name] - seen[name]).reshape(bias.shape).astype(bias.dtype)
            t.CopyFrom(numpy_helper.from_array(bias + shift, t.name))
    return copy


def _bias(node):
    return node.input[2] if node.op_type in ("Conv", "Gemm") and len(node.input) > 2 else None


def _means(model, tensors, samples):
    """Return by node the mean of its output over samples and positions, one number a channel."""
    sums: dict[str, np.ndarray] = {}
    for values in each_run(model, samples):
        for name, tensor in tensors.items():
            if tensor in values:
                x = values[tensor]
                mean = x.mean(axis=tuple(i for i in range(x.ndim) if i != 1), dtype=np.float64)
                sums[name] = sums.get(name, 0.0) + mean
    return {name: total / len(samples) for name, total in sums.items()}
