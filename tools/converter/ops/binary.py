"""Lower arithmetic, logic and comparison of two or more tensors to kernel binary."""

from __future__ import annotations

import numpy as np

from ..errors import DtypeProblem, Problem
from ..shapes.extent import any_open
from . import lowers
from ._dtypes import FLOAT
from ._elementwise import emit_binary, emit_pow, emit_power

_OPS = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "BitwiseAnd": "bitand",
    "BitwiseOr": "bitor",
    "BitwiseXor": "bitxor",
    "Equal": "equal",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "lessequal",
    "GreaterOrEqual": "greaterequal",
}

_LARGE = 120  # with smaller exponents neither number nor reciprocal is denormal


@lowers(*_OPS)
def lower_binary(node):
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    if node.op == "Div" and b.dtype == FLOAT and b.data is not None and _are_powers_of_two(b.data):
        emit_binary(node, "mul", a, node.constant(1 / b.data), out)
        return
    emit_binary(node, _OPS[node.op], a, b, out)


def _are_powers_of_two(data):
    """Return True if all divisors are powers of two.

    Products with their reciprocals have the same bits as quotients, and are faster.
    """
    mantissas, exponents = np.frexp(np.abs(data))
    return bool(np.all((mantissas == 0.5) & (np.abs(exponents) < _LARGE)))


@lowers("PRelu")
def lower_prelu(node):
    """Lower PRelu. Before opset 9, slopes that do not broadcast belong to the channels."""
    x, slope, out = node.inputs[0], node.inputs[1], node.outputs[0]
    by_channel = node.opset < 9 and len(slope.shape) == 1 and len(x.shape) > 1
    if by_channel and slope.nelem not in (1, x.shape[-1]) and slope.nelem == x.shape[1]:
        slope = node.reshaped(slope, (x.shape[1], *[1] * (len(x.shape) - 2)))
    if len(slope.shape) > len(x.shape):
        raise Problem(f"slope {slope} has more dims than {x}: ONNX broadcasts it one way")
    emit_binary(node, "prelu", x, slope, out)


@lowers("Pow")
def lower_pow(node):
    """Lower Pow. The exponent may have another dtype."""
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    known = b.data is not None and b.nelem == 1 and a.shape == out.shape
    if known and emit_power(node, a, b.data.item(), out):
        return
    if b.dtype in (10, 16):
        raise DtypeProblem("exponent of dtype float16 or bfloat16")
    emit_pow(node, a, b, out)


@lowers("Mod")
def lower_mod(node):
    op = "fmod" if node.attr("fmod", 0) else "mod"
    emit_binary(node, op, node.inputs[0], node.inputs[1], node.outputs[0])


@lowers("BitShift")
def lower_bit_shift(node):
    op = "shl" if node.attr("direction") == "LEFT" else "shr"
    emit_binary(node, op, node.inputs[0], node.inputs[1], node.outputs[0])


@lowers("Min", "Max")
def lower_extreme(node):
    _emit_chain(node, node.op.lower(), node.outputs[0])


@lowers("Sum")
def lower_sum(node):
    _emit_chain(node, "add", node.outputs[0])


@lowers("Mean")
def lower_mean(node):
    out, n = node.outputs[0], len(node.inputs)
    if n == 1:
        node.alias(out, node.inputs[0])
        return
    total = node.temp(out.dtype, out.shape)
    _emit_chain(node, "add", total)
    emit_binary(node, "div", total, n, out)


def _emit_chain(node, op, out):
    """Emit out = op(... op(op(input 0, input 1), input 2) ...)."""
    first, *others = node.inputs
    if not others:
        node.alias(out, first)
    for i, t in enumerate(others, 1):
        is_open = any_open((*first.shape, *t.shape))
        shape = out.shape if is_open else np.broadcast_shapes(first.shape, t.shape)
        target = out if i == len(others) else node.temp(out.dtype, shape)
        emit_binary(node, op, first, t, target)
        first = target
