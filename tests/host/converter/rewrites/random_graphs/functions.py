"""Random graphs of functions that exporters write as their parts."""

from __future__ import annotations

import math

import numpy as np

from .builder import SMOOTH, Builder
from .dense import linear, weights


def _number(b: Builder, value: float):
    """Return a scalar or a tensor with dims of 1; now and then another number."""
    value *= b.choice(*[1] * 20, 0.9, -1)
    return np.full(b.choice([], [], [1], [1, 1]), value, np.float32)


def _times(b, x, factor):
    if b.chance(0.3):
        return b.op("Div", x, _number(b, 1 / factor))
    return b.op("Mul", x, _number(b, factor))


def _product(b: Builder, x: str, y: str, factor: float = 1.0) -> str:
    """Return x * y * factor, with the products in any order."""
    if factor == 1:
        return b.op("Mul", x, y)
    kind = b.choice("behind", "x", "y")
    if kind == "behind":
        return _times(b, b.op("Mul", x, y), factor)
    if kind == "x":
        return b.op("Mul", _times(b, x, factor), y)
    return b.op("Mul", x, _times(b, y, factor))


def gelu(b: Builder, x: str) -> str:
    y = b.op("Erf", _times(b, x, math.sqrt(0.5)))
    return _product(b, x, b.op("Add", y, _number(b, 1)), 0.5)


def fast_gelu(b: Builder, x: str) -> str:
    is_power = b.chance(0.4)
    cube = b.op("Pow", x, _number(b, 3)) if is_power else b.op("Mul", b.op("Mul", x, x), x)
    inner = b.op("Add", x, _times(b, cube, 0.044715))
    y = b.op("Tanh", _times(b, inner, math.sqrt(2 / math.pi)))
    return _product(b, x, b.op("Add", y, _number(b, 1)), 0.5)


def hard_sigmoid(b: Builder, x: str) -> str:
    """Return Clip of x + 3 to 0 .. 6, or of a line through x to 0 .. 1."""
    if b.chance(0.5):
        y = b.op("Add", x, _number(b, 3))
        y = b.op("Clip", y, np.float32(0), np.float32(b.choice(6, 6, 6, 5)))
        return _times(b, y, 1 / 6) if b.chance(0.9) else y
    y = _times(b, x, b.choice(0.2, 1 / 6, -0.5)) if b.chance(0.8) else x
    y = b.op("Add", y, _number(b, 0.5))
    return b.op("Clip", y, np.float32(b.choice(0, 0, 0, -1)), b.choice(*[np.float32(1)] * 4, None))


def hard_swish(b: Builder, x: str) -> str:
    if b.chance(0.4):
        y = b.op("HardSigmoid", x, alpha=b.choice(1 / 6, 0.2), beta=0.5)
    else:
        y = hard_sigmoid(b, x)
    return _product(b, x, y)


def swish(b: Builder, x: str) -> str:
    y = _times(b, x, b.choice(1.702, -0.5)) if b.chance(0.5) else x
    return _product(b, x, b.op("Sigmoid", y), b.choice(1, 1, 0.5))


def gates(b: Builder) -> None:
    """Add a gate, or two gates in a row."""
    x = linear(b) if b.chance(0.3) else b.source(b.dims(0, 4))
    for _ in range(b.integer(1, 2)):
        if b.chance(0.15):
            x = _times(b, x, 0.5)
        x = b.choice(gelu, fast_gelu, hard_sigmoid, hard_swish, swish)(b, x)
        if b.chance(0.2):
            x = b.op("Mul", x, b.choice(b.op("Tanh", x), b.input(b.shape(x)), x))
    b.behind(x)


def layer_norm(b: Builder) -> None:
    x = b.source(shape := [*b.dims(0, 3, 4), b.integer(3, 9)])
    rank = len(shape)
    x = b.op(b.choice(*SMOOTH), x) if b.chance(0.3) else x
    axes = [rank - 1]
    if b.chance(0.1):
        axes = sorted({b.integer(0, rank - 1), rank - 1})
    keepdims = int(b.chance(0.95))

    def mean(of):
        return b.reduce("ReduceMean", of, *axes, keepdims=keepdims)

    d = b.op("Sub", x, mean(x))
    second = b.op("Sub", x, mean(x)) if b.chance(0.2) else d
    if b.chance(0.5):
        square = b.op("Pow", d, np.float32(b.choice(*[2] * 8, 4)))
    else:
        square = b.op("Mul", d, b.choice(*[second] * 8, b.op("Sigmoid", d)))
    epsilon = np.full(b.choice([], [1], [1] * rank), b.choice(1e-5, 0.1), np.float32)
    root = b.op("Sqrt", b.op("Add", mean(square), epsilon))
    if b.chance(0.6):
        y = b.op("Div", second, root)
    else:
        one = b.choice(1, 1, 1, 2)
        r = b.op("Reciprocal", root) if b.chance(0.5) else b.op("Div", np.float32(one), root)
        y = b.op("Mul", second, r)
    for op in ("Mul", "Add"):
        if b.chance(0.8):
            own = b.choice(
                shape[-1:],
                shape[-1:],
                shape[-1:],
                [1, *shape[-1:]],
                [],
                shape,
                [1, 1, 1, 1, *shape[-1:]],
            )
            y = b.op(op, y, weights(b, *own))
    b.behind(y)
