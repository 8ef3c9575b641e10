"""Functions of one tensor without constants -> kernel unary."""

from __future__ import annotations

from . import lowers
from ._elementwise import emit_binary, emit_unary

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
    emit_unary(node, _OPS[node.op], x, out)


@lowers("IsInf")
def lower_is_inf(node):
    x, out = node.inputs[0], node.outputs[0]
    positive, negative = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if positive or negative:
        op = "isinf" if positive and negative else "isposinf" if positive else "isneginf"
        emit_unary(node, op, x, out)
    else:
        emit_binary(node, "less", x, x, out)  # false everywhere
