"""Replace operators that multiply 8-bit integers by `Products` and float operators.

Scales are combined and sums scaled in onnxruntime's order, so every bit is the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .nodes import Nodes

# By domain and operator; filled by @_replaces below.
REPLACEMENTS: dict[tuple[str, str], Callable[[Nodes], None]] = {}


def _replaces(op: str, *domains: str):
    def decorator(function):
        REPLACEMENTS.update(dict.fromkeys(((d, op) for d in domains), function))
        return function

    return decorator


@_replaces("MatMulInteger", "")
def _matmul_integer(n):
    a, b, a_zero, b_zero = (n.input(i) for i in range(4))
    n.finish(n.products.matmul(n, a, a_zero, b, b_zero))


@_replaces("ConvInteger", "")
def _conv_integer(n):
    x, w, x_zero, w_zero = (n.input(i) for i in range(4))
    n.finish(n.products.conv(n, x, x_zero, w, w_zero))


@_replaces("QLinearMatMul", "")
def _qlinear_matmul(n):
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (n.input(i) for i in range(8))
    sums = n.products.matmul(n, a, a_zero, b, b_zero)
    scale = n.add("Mul", n.scalar(a_scale), b_scale)
    scale = n.add("Div", scale, n.scalar(y_scale))
    n.finish(n.quantize(_scaled(n, sums, scale), y_zero))


@_replaces("QLinearConv", "", "com.microsoft")
def _qlinear_conv(n):
    """Replace QLinearConv: channels become rows of (N, M, positions), so vectors broadcast."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = (n.input(i) for i in range(9))
    last = n.attribute("channels_last", 0) and _rank(n, w) - 1
    if last:
        x = n.add("Transpose", x, perm=[0, last, *range(1, last)])
    sums = n.products.conv(n, x, x_zero, w, w_zero)
    shape = n.add("Shape", sums)
    rows = n.add("Reshape", sums, n.constant(np.array([0, 0, -1])))
    if bias:
        rows = n.add("Add", rows, _column(n, bias))
    scale = n.add("Mul", n.scalar(x_scale), _column(n, w_scale))
    scale = n.add("Div", scale, n.scalar(y_scale))
    y = n.add("Reshape", n.quantize(_scaled(n, rows, scale), y_zero), shape)
    n.finish(n.add("Transpose", y, perm=[0, *range(2, last + 1), 1]) if last else y)


@_replaces("DynamicQuantizeMatMul", "com.microsoft")
def _dynamic_quantize_matmul(n):
    a, b, b_scale, b_zero, bias = (n.input(i) for i in range(5))
    n.needs(11)
    a, a_scale, a_zero = n.add_all("DynamicQuantizeLinear", [a], 3)
    _to_float(n, (a, a_scale, a_zero), (b, b_scale, b_zero), bias)


@_replaces("MatMulIntegerToFloat", "com.microsoft")
def _matmul_integer_to_float(n):
    a, b, a_scale, b_scale, a_zero, b_zero, bias = (n.input(i) for i in range(7))
    _to_float(n, (a, n.scalar(a_scale), a_zero), (b, b_scale, b_zero), bias)


@_replaces("QGemm", "com.microsoft")
def _qgemm(n):
    a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero = (n.input(i) for i in range(9))
    a = n.add("Transpose", a) if n.attribute("transA", 0) else a
    b = n.add("Transpose", b) if n.attribute("transB", 0) else b
    sums = n.products.matmul(n, a, a_zero, b, b_zero)
    sums = n.add("Add", sums, c) if c else sums
    alpha = n.constant(np.float32(n.attribute("alpha", 1.0)))
    scale = n.add("Mul", n.add("Mul", alpha, n.scalar(a_scale)), b_scale)
    scale = n.add("Div", scale, n.scalar(y_scale)) if y_scale else scale
    y = _scaled(n, sums, scale)
    n.finish(n.quantize(y, y_zero) if y_zero else y)


@_replaces("QAttention", "com.microsoft")
def _qattention(n):
    _replace_weights(n, (1, 7))


@_replaces("DynamicQuantizeLSTM", "com.microsoft")
def _dynamic_quantize_lstm(n):
    _replace_weights(n, (1, 9), (2, 11))


def _replace_weights(n, *pairs):
    """Replace weights and zero points, at pairs of input indices; keep the node."""
    inputs = [*n.node.input, *[""] * (pairs[-1][1] + 1 - len(n.node.input))]
    for w, zero in pairs:
        inputs[w], inputs[zero] = n.products.weights(n, inputs[w], inputs[zero])
    del n.node.input[:]
    n.node.input.extend(inputs)
    n.made.append(n.node)


def _to_float(n, a, b, bias):
    """Replace the node by the float32 product of two matrices, plus a bias.

    Args:
        n: the Nodes.
        a: (values, scale, zero point).
        b: (values, scale, zero point).
        bias: name of the bias, or "".
    """
    (a, a_scale, a_zero), (b, b_scale, b_zero) = a, b
    sums = n.products.matmul(n, a, a_zero, b, b_zero)
    y = _scaled(n, sums, n.add("Mul", a_scale, b_scale))
    n.finish(n.add("Add", y, bias) if bias else y)


def _scaled(n, sums, scale):
    return n.add("Mul", n.cast(sums, np.float32), scale)


def _column(n, x):
    return n.add("Reshape", x, n.constant(np.array([-1, 1])))


def _rank(n, w):
    shape = n.shapes.of(w)
    if shape is None:
        raise n.inexact("the model does not state the shape of its weights")
    return len(shape)
