"""Emission of the device kernels `binary`, `unary`, `activation`, `curve` and `formula`."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from ..errors import DtypeProblem, Problem
from ..ir import Tensor, dtype_name
from ..numbers import curves
from ..shapes.extent import bound_of
from ..steps.overlap import item_by_item
from ..steps.rows import ItemRows
from ._curves import halves
from ._extents import matched
from ._move import collapse, strides_of

FLOAT = 1
FLOATS = (FLOAT, 11)
INTS = (2, 3, 4, 5, 6, 7, 12, 13)
BOOL = (9,)

_LIMIT = 1 << 29  # the device's BIAS
_WORTH = 64  # bytes of a table for each item
_FORMULAS = ("sigmoid", "tanh", "log", "sin", "cos")  # by the kernel's numbers

# Names in the order of the device's tables (mpconnxr/ops/{binary,unary,activation}.py), by the
# dtypes of x that ONNX has for them.
BINARY = {
    "add": FLOATS + INTS,
    "sub": FLOATS + INTS,
    "mul": FLOATS + INTS,
    "div": FLOATS + INTS,
    "pow": FLOATS + INTS,
    "min": FLOATS + INTS,
    "max": FLOATS + INTS,
    "mod": FLOATS + INTS,
    "fmod": FLOATS + INTS,
    "and": BOOL,
    "or": BOOL,
    "xor": BOOL,
    "bitand": INTS,
    "bitor": INTS,
    "bitxor": INTS,
    "shl": INTS,
    "shr": INTS,
    "equal": FLOATS + INTS + BOOL,
    "less": FLOATS + INTS,
    "greater": FLOATS + INTS,
    "lessequal": FLOATS + INTS,
    "greaterequal": FLOATS + INTS,
    "prelu": FLOATS + INTS,
}
UNARY = {
    "abs": FLOATS + INTS,
    "neg": FLOATS + INTS,
    "sign": FLOATS + INTS,
    "not": BOOL,
    "bitnot": INTS,
    "isnan": FLOATS,
    "isinf": FLOATS,
    "isposinf": FLOATS,
    "isneginf": FLOATS,
    "floor": FLOATS,
    "ceil": FLOATS,
    "round": FLOATS,
    "reciprocal": FLOATS,
    "sqrt": FLOATS,
    "exp": FLOATS,
    "log": FLOATS,
    "sin": FLOATS,
    "cos": FLOATS,
    "tan": FLOATS,
    "asin": FLOATS,
    "acos": FLOATS,
    "atan": FLOATS,
    "sinh": FLOATS,
    "cosh": FLOATS,
    "tanh": FLOATS,
    "asinh": FLOATS,
    "acosh": FLOATS,
    "atanh": FLOATS,
    "erf": FLOATS,
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


def emit_binary(node, op: str, a: Tensor, b: Tensor, out: Tensor) -> None:
    """out = op(a, b) with numpy's broadcasting of a and b to out. Raises Problem."""
    _check(BINARY, op, a)
    a, b = matched(node, a, out.shape), matched(node, b, out.shape)
    dims, (a_strides, b_strides) = broadcast(out.shape, a, b)
    if 0 not in out.shape:
        runs = runs_of(dims, a_strides, b_strides)
        over = item_by_item(out, [a, b])
        node.emit("binary", [a, b], [out], over=over, op=_number(BINARY, op), runs=runs)


def emit_unary(node, op: str, x: Tensor, out: Tensor, *params: float) -> None:
    """out = op(x), element by element; params: the op's float constants. Raises Problem."""
    if 0 in out.shape:
        return
    if x.dtype == FLOAT and node.is_exact:
        if _emit_curve(node, halves(op, *params), x, out):
            return
        if op in _FORMULAS:
            over = item_by_item(out, [x])
            node.emit("formula", [x], [out], over=over, rows=ItemRows(), op=_FORMULAS.index(op))
            return
    if x.dtype == FLOAT and op == "reciprocal":
        emit_binary(node, "div", node.constant(np.ones(1, np.float32)), x, out)
        return
    if op in UNARY:
        _check(UNARY, op, x)
        node.emit("unary", [x], [out], over=item_by_item(out, [x]), op=_number(UNARY, op))
    else:
        _check({op: FLOATS}, op, x)
        named = {"op": _number(ACTIVATION, op), "constants": [float_bits(p) for p in params]}
        over = item_by_item(out, [x])
        node.emit("activation", [x], [out], over=over, rows=ItemRows(), **named)


def _emit_curve(node, function, x, out):
    """out = the function of these halves; False if there is none, or x is not worth a table."""
    if function is None:
        return False
    table = curves.table_of(*function)
    words = np.array(table.words, np.uint32).view(np.int32)
    curve_steps = [s for s in node.steps if s.kernel == "curve"]
    same = [s.inputs[1] for s in curve_steps if np.array_equal(s.inputs[1].data, words)]
    if not same and words.nbytes > _WORTH * int(bound_of(x.nelem)):
        return False
    inputs = [x, same[0] if same else node.constant(words)]
    over = item_by_item(out, [x])
    node.emit("curve", inputs, [out], over=over, rows=ItemRows(), **table.params)
    return True


def runs_of(dims: Sequence[int], x_strides: Sequence[int], w_strides: Sequence[int]) -> dict:
    """The walk over two operands by the names of kernels' parameters."""
    steps = {"x_strides": x_strides, "w_strides": w_strides}
    return {"rank": len(dims), "dims": dims, **steps}


def broadcast(shape: Sequence[int], *tensors: Tensor) -> tuple[list[int], list[list[int]]]:
    """A walk over `shape` in C order, dims merged: (dims, strides of each; 0 where broadcast)."""
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
    """The bits of a float32 as a signed word."""
    return struct.unpack("<i", struct.pack("<f", value))[0]


def _number(table, op):
    return list(table).index(op)


def _check(table, op, x):
    if x.dtype not in table[op]:
        raise DtypeProblem(f"dtype {dtype_name(x.dtype)}")
