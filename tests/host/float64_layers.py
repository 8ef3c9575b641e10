"""Layers between integers, with conv, gemm or matmul, evaluated in float64.

A bias of integers counts in units of x_scale * w_scale, as docs/quantization.md has it. The scale
that a model gives it is this product rounded to float32: 12,151 units of it may be 3e-5 steps of
the output off, which decides sums that are that close to the middle between two integers.
"""

from __future__ import annotations

import itertools

import numpy as np
import onnx
from onnx import helper, numpy_helper


def evaluated(model: onnx.ModelProto, inputs: list[np.ndarray]) -> np.ndarray | None:
    """Return the layer's output; None if it has an operator that _OPS lacks."""
    graph = model.graph
    if any(node.op_type not in _OPS for node in graph.node):
        return None
    values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    values |= dict(zip([i.name for i in graph.input], inputs, strict=True))
    scales = _exact_scales(graph, values)
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        taken = [values[name] if name else None for name in node.input]
        if node.output[0] in scales:
            taken[1] = scales[node.output[0]]
        values[node.output[0]] = _OPS[node.op_type](*taken, **attributes)
    return values[graph.output[0].name]


def _exact_scales(graph, values):
    """Return the products that biases' scales are roundings of, by the bias's name."""
    dequantized = {n.output[0]: n for n in graph.node if n.op_type == "DequantizeLinear"}
    result = {}
    for node in graph.node:
        three = [dequantized.get(name) for name in node.input]
        if node.op_type in ("Conv", "Gemm") and len(three) == 3 and all(three):
            x, w, declared = (values[n.input[1]].astype(np.float64) for n in three)
            if np.allclose(x * w, declared, rtol=2.0**-23, atol=0):
                result[node.input[2]] = x * w
    return result


def _by_axis(v, x, axis):
    v = np.asarray(v)
    return v.reshape(-1, *[1] * (x.ndim - 1 - axis % x.ndim)) if v.size > 1 else v.reshape(())


def _dequantize(x, scale, zero=None, axis=1, **_):
    scale = _by_axis(scale.astype(np.float64), x, axis)
    return (x.astype(np.float64) - (0 if zero is None else _by_axis(zero, x, axis))) * scale


def _quantize(x, scale, zero=None, axis=1, **_):
    zero = np.uint8(0) if zero is None else zero
    levels = np.rint(x / _by_axis(scale.astype(np.float64), x, axis)) + _by_axis(zero, x, axis)
    info = np.iinfo(zero.dtype)
    return np.clip(levels, info.min, info.max).astype(zero.dtype)


def _conv(x, w, b=None, group=1, strides=None, pads=None, dilations=None, auto_pad=b"", **_):
    kernel, rank = w.shape[2:], w.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = pads or [0] * 2 * rank
    if auto_pad.startswith(b"SAME"):
        sizes = zip(x.shape[2:], strides, spans, strict=True)
        more = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in sizes]
        less = [v // 2 if auto_pad == b"SAME_UPPER" else v - v // 2 for v in more]
        pads = [*less, *(v - u for v, u in zip(more, less, strict=True))]
    x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)])
    counts = [(n - span) // s + 1 for n, span, s in zip(x.shape[2:], spans, strides, strict=True)]
    total = np.zeros((group, len(x), w.shape[0] // group, *counts))
    x = np.moveaxis(x.reshape(len(x), group, -1, *x.shape[2:]), 1, 0)
    w = w.reshape(group, -1, *w.shape[1:])
    for at in itertools.product(*map(range, kernel)):
        firsts = [k * d for k, d in zip(at, dilations, strict=True)]
        ends = [f + (n - 1) * s + 1 for f, n, s in zip(firsts, counts, strides, strict=True)]
        cut = [slice(f, e, s) for f, e, s in zip(firsts, ends, strides, strict=True)]
        part = x[:, :, :, *cut].reshape(group, len(x[0]), x.shape[2], -1)
        total += (w[:, None, :, :, *at] @ part).reshape(total.shape)
    total = np.moveaxis(total, 0, 1).reshape(x.shape[1], -1, *counts)
    return total if b is None else total + b.reshape(-1, *[1] * rank)


# ruff: noqa: N803
def _gemm(a, b, c=0, alpha=1.0, beta=1.0, transA=0, transB=0):
    return alpha * (a.T if transA else a) @ (b.T if transB else b) + beta * c


def _clip(x, low=None, high=None, **_):
    return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)


_OPS = {
    "DequantizeLinear": _dequantize,
    "QuantizeLinear": _quantize,
    "Conv": _conv,
    "Gemm": _gemm,
    "MatMul": np.matmul,
    "Add": np.add,
    "Relu": lambda x: np.maximum(x, 0),
    "Clip": _clip,
    "Transpose": lambda x, perm: x.transpose(perm),
}
