"""Emission of elementwise kernels: binary, unary, activation, curve, formula, hard and power."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Sequence

import numpy as np

from ..errors import DtypeProblem, Problem
from ..ir import Tensor, dtype_name
from ..numbers import curves
from ..shapes.extent import any_open, planned
from ..steps.overlap import element_leads
from ..steps.rows import ElementRows
from ._curves import halves
from ._dtypes import BOOL, FLOAT, FLOATS, INTS, NUMBERS
from ._extents import matched
from ._move import collapse, strides_of

_LIMIT = 1 << 29  # the device's BIAS
_MAX_TABLE_BYTES = 64  # bytes of a table for each element that is computed with it
_HARD = ("hardsigmoid", "hardswish")
_MIN_SLOPE, _MAX_SLOPE = 2.0**-20, 2.0**6
_FORMULAS = ("sigmoid", "tanh", "log", "sin", "cos")  # in the kernel's order

# Operators in the order of the device's tables (mpconnxr/ops/{binary,unary,activation}.py), with
# the dtypes of x that ONNX defines them for.
BINARY = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "min", "max", "mod", "fmod"), NUMBERS),
    **dict.fromkeys(("and", "or", "xor"), (BOOL,)),
    **dict.fromkeys(("bitand", "bitor", "bitxor", "shl", "shr"), INTS),
    "equal": (*NUMBERS, BOOL),
    **dict.fromkeys(("less", "greater", "lessequal", "greaterequal", "prelu"), NUMBERS),
}
UNARY = {
    **dict.fromkeys(("abs", "neg", "sign"), NUMBERS),
    "not": (BOOL,),
    "bitnot": INTS,
    **dict.fromkeys(("isnan", "isinf", "isposinf", "isneginf", "floor", "ceil", "round"), FLOATS),
    **dict.fromkeys(("reciprocal", "sqrt", "exp", "log", "sin", "cos", "tan"), FLOATS),
    **dict.fromkeys(("asin", "acos", "atan", "sinh", "cosh", "tanh"), FLOATS),
    **dict.fromkeys(("asinh", "acosh", "atanh", "erf"), FLOATS),
}
ACTIVATION = (
    "leakyrelu",
    "elu",
    "thresholdedrelu",
    "shrink",
    "hardsigmoid",
    "hardswish",
    "sigmoid",
    "swish",
    "softplus",
    "softsign",
    "mish",
    "gelu",
    "gelu_tanh",
)


Operand = Tensor | float | Sequence[float]  # numbers get the dtype of the other operand


def emit_binary(node, op: str, a: Operand, b: Operand, out: Tensor) -> None:
    """Emit out = op(a, b), with numpy's broadcasting of a and b to the shape of out."""
    a, b = _tensors(node, a, b)
    _check(BINARY, op, a)
    a, b = matched(node, a, out.shape), matched(node, b, out.shape)
    dims, (a_strides, b_strides) = broadcast(out.shape, a, b)
    if 0 not in out.shape:
        runs = runs_of(dims, a_strides, b_strides)
        over = element_leads(out, [a, b])
        node.emit("binary", [a, b], [out], over=over, op=_index(BINARY, op), runs=runs)


def binary(node, op: str, a: Operand, b: Operand, dtype: int | None = None) -> Tensor:
    """Return op(a, b) as a new tensor, by default in the dtype of a."""
    a, b = _tensors(node, a, b)
    rank = max(len(a.shape), len(b.shape))
    dims = [(1,) * (rank - len(t.shape)) + t.shape for t in (a, b)]
    shape = [e if d == 1 else d for d, e in zip(*dims, strict=True)]
    out = node.temp(a.dtype if dtype is None else dtype, shape)
    emit_binary(node, op, a, b, out)
    return out


def _tensors(node, a, b):
    if not isinstance(a, Tensor):
        a = node.constant(np.asarray(a, b.np_dtype))
    if not isinstance(b, Tensor):
        b = node.constant(np.asarray(b, a.np_dtype))
    return a, b


def unary(node, op: str, x: Tensor) -> Tensor:
    """Return op(x) as a new tensor of the same dtype."""
    out = node.temp(x.dtype, x.shape)
    emit_unary(node, op, x, out)
    return out


def emit_unary(node, op: str, x: Tensor, out: Tensor, *params: float) -> None:
    """Emit out = op(x), element by element, with the operator's float constants `params`."""
    if 0 in out.shape:
        return
    if x.dtype == FLOAT and node.is_exact:
        if op in _HARD and _emit_hard(node, op, x, out, *params):
            return
        if has_curve(node, op, x, *params):
            _emit_curve(node, op, x, out, *params)
            return
        if op in _FORMULAS:
            emit_by_element(node, "formula", x, out, op=_FORMULAS.index(op))
            return
    if x.dtype == FLOAT and op == "reciprocal":
        emit_binary(node, "div", [1.0], x, out)
        return
    if op in UNARY:
        _check(UNARY, op, x)
        node.emit("unary", [x], [out], over=element_leads(out, [x]), op=_index(UNARY, op))
    else:
        _check({op: FLOATS}, op, x)
        bits = [float_bits(p) for p in params]
        emit_by_element(node, "activation", x, out, op=_index(ACTIVATION, op), constants=bits)


def emit_by_element(node, kernel: str, x: Tensor, out: Tensor, *inputs: Tensor, **params) -> None:
    """Emit a kernel that computes out from x element by element, so that it can be cut anywhere.

    Args:
        node: the node to lower.
        kernel: its name.
        x: the first input.
        out: the output.
        *inputs: further inputs.
        **params: its parameters.
    """
    over = element_leads(out, [x])
    node.emit(kernel, [x, *inputs], [out], over=over, rows=ElementRows(), **params)


def _emit_hard(node, op, x, out, slope, offset):
    """Emit kernel hard; return False if it does not serve these constants.

    Args:
        node: the node to lower.
        op: "hardsigmoid" or "hardswish".
        x: input.
        out: output.
        slope: factor of x in the function (alpha).
        offset: addend in the function (beta).
    """
    if not _MIN_SLOPE < slope < _MAX_SLOPE or not 0 < offset < 1:
        return False
    fraction, exponent = math.frexp(float(np.float32(slope)))
    params = {"slope": round(math.ldexp(fraction, 30)), "reach": 127 - exponent}
    params |= {"offset": round(math.ldexp(offset, 30)), "times": int(op == "hardswish")}
    emit_by_element(node, "hard", x, out, **params)
    return True


def has_curve(node, op: str, x: Tensor, *params: float) -> bool:
    """Return True if kernel curve is the best for an operator.

    It needs a table, and either an x with enough elements to be worth the table, or an earlier
    step with an equal table.

    Args:
        node: the node to lower.
        op: name of the operator.
        x: its input.
        *params: constants of the operator.
    """
    if x.dtype != FLOAT or not node.is_exact or halves(op, *params) is None:
        return False
    _, words, same = _curve(node, op, params)
    return bool(same) or words.nbytes <= _MAX_TABLE_BYTES * planned(x.nelem)


def _emit_curve(node, op, x, out, *params):
    """Emit kernel curve; share the table with an earlier step that has an equal one.

    Args:
        node: the node to lower.
        op: name of the operator.
        x: its input.
        out: its output.
        *params: constants of the operator.
    """
    table, words, same = _curve(node, op, params)
    constant = same[0] if same else node.constant(words)
    emit_by_element(node, "curve", x, out, constant, **table.params)


def _curve(node, op, params):
    """Return an operator's table, its words, and the equal constants of earlier curve steps."""
    table = _table(op, *params)
    words = np.array(table.words, np.uint32).view(np.int32)
    curve_steps = [s for s in node.steps if s.kernel == "curve"]
    same = [s.inputs[1] for s in curve_steps if np.array_equal(s.inputs[1].data, words)]
    return table, words, same


@functools.cache
def _table(op, *params):
    return curves.table_of(*halves(op, *params))


def runs_of(dims: Sequence[int], x_strides: Sequence[int], w_strides: Sequence[int]) -> dict:
    """Return the kernels' parameters, by name, of a walk over two operands.

    Args:
        dims: sizes of the dimensions, the innermost last.
        x_strides: strides of the first operand.
        w_strides: strides of the second operand.
    """
    steps = {"x_strides": x_strides, "w_strides": w_strides}
    return {"rank": len(dims), "dims": dims, **steps}


def broadcast(shape: Sequence[int], *tensors: Tensor) -> tuple[list[int], list[list[int]]]:
    """Return the walk over tensors that are broadcast to a shape, in C order.

    Returns:
        The dimensions, merged where possible, and for each tensor its strides; 0 where it is
        broadcast.
    """
    strides = []
    for t in tensors:
        own = [1] * (len(shape) - len(t.shape)) + list(t.shape)
        if len(own) != len(shape) or any(d not in (1, s) for d, s in zip(own, shape, strict=True)):
            raise Problem(f"{t} does not broadcast to {list(shape)}")
        strides.append([0 if d == 1 else s for d, s in zip(own, strides_of(own), strict=True)])
    dims, (*strides, _) = collapse(shape, *strides, strides_of(shape))
    if any(abs(v) >= _LIMIT for v in (*dims, *sum(strides, []))):
        raise Problem("tensor too large for 32-bit indices")
    return dims, strides


def float_bits(value: float) -> int:
    """Return the bits of a float32 as a signed 32-bit integer."""
    return struct.unpack("<i", struct.pack("<f", value))[0]


def _index(table, op):
    return list(table).index(op)


def _check(table, op, x):
    if x.dtype not in table[op]:
        raise DtypeProblem(f"dtype {dtype_name(x.dtype)}")


_MAX_POWER = 3


def emit_pow(node, x: Tensor, y: Tensor, out: Tensor) -> None:
    """Emit out = x ** y, with broadcasting."""
    has_loop = x.dtype == y.dtype == FLOAT and node.is_exact and not any_open(out.shape)
    if has_loop and all(t.nelem in (1, out.nelem) for t in (x, y)) and 0 not in out.shape:
        node.emit("power", [x, y], [out], over=element_leads(out, [x, y]))
    else:
        emit_binary(node, "pow", x, y, out)


def emit_any_power(node, x: Tensor, exponent: float, out: Tensor) -> None:
    """Emit out = x ** exponent, by cheaper operators if possible."""
    if not emit_power(node, x, exponent, out):
        emit_pow(node, x, node.constant(np.array(exponent, x.np_dtype)), out)


def emit_power(node, x: Tensor, exponent: float, out: Tensor) -> bool:
    """Emit out = x ** exponent as products, roots and quotients; return False for other exponents.

    It serves 2 for any dtype, and for float32 -2, -1, 4, and multiples of 1/4 up to 3. For
    fractions -inf becomes NaN.

    Args:
        node: the node to lower.
        x: the base.
        exponent: a number.
        out: the output.
    """
    if exponent == 2:
        emit_binary(node, "mul", x, x, out)
        return True
    if x.dtype != FLOAT or exponent not in (-1, -2, 4) and not _is_quarters(exponent):
        return False
    if exponent == -1:
        emit_unary(node, "reciprocal", x, out)
    elif exponent == -2:
        emit_unary(node, "reciprocal", binary(node, "mul", x, x), out)
    elif exponent == 4:
        square = binary(node, "mul", x, x)
        emit_binary(node, "mul", square, square, out)
    else:
        _emit_product(node, _factors(node, x, round(4 * exponent), out), out)
    return True


def _is_quarters(exponent):
    return 0 < exponent <= _MAX_POWER and exponent != 1 and 4 * exponent == int(4 * exponent)


def _factors(node, x, quarters, out):
    """Return the factors of x ** (quarters / 4): x, its square root and its fourth root.

    Args:
        node: the node to lower.
        x: the base.
        quarters: four times the exponent.
        out: the output, which holds a factor that is the only one.
    """
    factors = [x] * (quarters // 4)
    if quarters % 4:
        is_last = quarters == 2
        root = out if is_last else node.temp(FLOAT, x.shape)
        emit_unary(node, "sqrt", x, root)
        factors += [root] * (quarters >> 1 & 1)
    if quarters & 1:
        fourth = out if quarters == 1 else node.temp(FLOAT, x.shape)
        emit_unary(node, "sqrt", root, fourth)
        factors.append(fourth)
    return factors


def _emit_product(node, factors, out):
    product, *others = factors
    for i, factor in enumerate(others):
        target = out if i == len(others) - 1 else node.temp(FLOAT, out.shape)
        emit_binary(node, "mul", product, factor, target)
        product = target
