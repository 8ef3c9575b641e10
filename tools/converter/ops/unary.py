"""Lower functions of one tensor without constants to kernels unary, curve, formula and others."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._dtypes import FLOAT
from ._elementwise import binary, emit_binary, emit_unary, has_curve, unary

# ONNX's names. The kernel's are the same in lower case, except for one.
_NAMES = (
    *("Abs", "Neg", "Sign", "Not", "Floor", "Ceil", "Round", "IsNaN"),
    *("Reciprocal", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf"),
)
# asin(x) = atan(x / sqrt((1 - x) * (1 + x))), acos(x) = 2 * atan(sqrt((1 - x) / (1 + x)))
_OF_ATAN = {"Asin": "atan", "Acos": "twice_atan"}
_OPS = {name: name.lower() for name in _NAMES} | {"BitwiseNot": "bitnot"}


@lowers(*_OPS)
def lower_unary(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == FLOAT and node.op == "IsNaN":
        emit_unary(node, "not", binary(node, "equal", x, x, out.dtype), out)
    elif x.dtype == FLOAT and node.op == "Tan" and node.is_exact:
        emit_binary(node, "div", unary(node, "sin", x), unary(node, "cos", x), out)
    elif node.op in _OF_ATAN and has_curve(node, _OF_ATAN[node.op], x):
        below, above = binary(node, "sub", [1.0], x), binary(node, "add", [1.0], x)
        if node.op == "Asin":
            root = unary(node, "sqrt", binary(node, "mul", below, above))
            argument = binary(node, "div", x, root)
        else:
            argument = unary(node, "sqrt", binary(node, "div", below, above))
        emit_unary(node, _OF_ATAN[node.op], argument, out)
    else:
        emit_unary(node, _OPS[node.op], x, out)


@lowers("IsInf")
def lower_is_inf(node):
    x, out = node.inputs[0], node.outputs[0]
    positive, negative = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if x.dtype == FLOAT and (positive or negative):
        if positive and negative:
            x = unary(node, "abs", x)
        emit_binary(node, "equal", x, [np.inf if positive else -np.inf], out)
    elif positive or negative:
        op = "isinf" if positive and negative else "isposinf" if positive else "isneginf"
        emit_unary(node, op, x, out)
    else:
        emit_binary(node, "less", x, x, out)  # false everywhere
