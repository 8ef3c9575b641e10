"""Functions of one tensor without constants -> kernels unary, curve, formula and others."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._elementwise import FLOAT, emit_binary, emit_unary

_NAMES = [
    "Abs",
    "Neg",
    "Sign",
    "Not",
    "Floor",
    "Ceil",
    "Round",
    "Reciprocal",
    "Sqrt",
    "Exp",
    "Log",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Tanh",
    "Asinh",
    "Acosh",
    "Atanh",
    "Erf",
    "IsNaN",
]
# The kernel's names are ONNX's in lower case, but for one.
_OPS = {name: name.lower() for name in _NAMES} | {"BitwiseNot": "bitnot"}


@lowers(*_OPS)
def lower_unary(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == FLOAT and node.op == "IsNaN":
        _emit_is_nan(node, x, out)
    elif x.dtype == FLOAT and node.op == "Tan" and node.is_exact:
        sine, cosine = node.temp(FLOAT, x.shape), node.temp(FLOAT, x.shape)
        emit_unary(node, "sin", x, sine)
        emit_unary(node, "cos", x, cosine)
        emit_binary(node, "div", sine, cosine, out)
    else:
        emit_unary(node, _OPS[node.op], x, out)


def _emit_is_nan(node, x, out):
    is_number = node.temp(out.dtype, x.shape)
    emit_binary(node, "equal", x, x, is_number)
    emit_unary(node, "not", is_number, out)


@lowers("IsInf")
def lower_is_inf(node):
    x, out = node.inputs[0], node.outputs[0]
    positive, negative = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if x.dtype == FLOAT and (positive or negative):
        infinity = np.full(1, np.inf if positive else -np.inf, np.float32)
        if positive and negative:
            size = node.temp(FLOAT, x.shape)
            emit_unary(node, "abs", x, size)
            x = size
        emit_binary(node, "equal", x, node.constant(infinity), out)
    elif positive or negative:
        op = "isinf" if positive and negative else "isposinf" if positive else "isneginf"
        emit_unary(node, op, x, out)
    else:
        emit_binary(node, "less", x, x, out)  # false everywhere
