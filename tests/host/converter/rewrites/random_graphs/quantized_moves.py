"""Random graphs between DQ and Q that move elements, or change each one alone."""

from __future__ import annotations

import numpy as np

from .builder import Builder
from .quantization import Scale, dq, dtype_of, q, real, weights


def move(b: Builder, x: str) -> str:
    """Add a node that moves all elements of x, or selects some."""
    shape = b.shape(x)
    rank = len(shape)
    axis = b.integer(0, max(rank - 1, 0))
    kinds = ["reshape", "unsqueeze", "expand", "identity"]
    kinds += [
        "transpose",
        "slice",
        "gather",
        "concat",
        "split",
        "tile",
        "pad",
        "max",
        "elements",
    ] * bool(rank)
    kinds += ["pool"] * (rank == 4) + ["resize", "depth"] * (rank == 4)
    kind = b.choice(*kinds)
    if kind == "reshape":
        return b.reshape(x, *b.regrouped(shape))
    if kind == "unsqueeze":
        return b.unsqueeze(x, b.integer(0, rank))
    if kind == "expand":
        return b.op("Expand", x, np.int64([b.choice(1, 2), *shape]))
    if kind == "transpose":
        return b.transpose(x, b.order(rank))
    if kind == "slice":
        return b.slice(
            x, axis, *b.choice((0, max(1, shape[axis] - 1), 1), (-1, -9, -1), (0, 9, 2))
        )
    if kind == "gather":
        return b.gather(x, axis, b.integer(0, shape[axis] - 1), b.chance(0.3))
    if kind == "elements":
        place = b.rng.integers(0, shape[axis], shape)
        return b.op("GatherElements", x, np.int64(place), axis=b.axis(axis, rank))
    if kind == "concat":
        return b.op("Concat", x, x, axis=b.axis(axis, rank))
    if kind == "split":
        first = b.integer(1, max(1, shape[axis] - 1))
        return b.split(x, axis, [d for d in (first, shape[axis] - first) if d])[0]
    if kind == "tile":
        return b.op("Tile", x, np.int64([b.choice(1, 1, 2) for _ in shape]))
    if kind == "pad":
        around = [b.choice(0, 0, 1) for _ in range(2 * rank)]
        mode, fill = (
            b.choice("constant", "constant", "edge"),
            b.choice(None, np.float32(0), np.float32(0.31), np.float32(-99)),
        )
        return b.op("Pad", x, np.int64(around), fill, mode=mode)
    if kind == "max":
        return b.reduce(b.choice("ReduceMax", "ReduceMin"), x, axis, keepdims=b.choice(0, 1))
    if kind == "pool":
        return b.op(
            "MaxPool",
            x,
            kernel_shape=b.choice([1, 2], [2, 2]),
            strides=b.integers(1, 2, 2),
            pads=b.choice([0] * 4, [0, 1, 0, 0]),
        )
    if kind == "resize":
        return b.op("Resize", x, np.zeros(0, np.float32), np.float32([1, 1, 2, 2]), mode="nearest")
    if kind == "depth":
        return b.op("SpaceToDepth", x, blocksize=2)
    return b.op("Identity", x)


def moved(b: Builder) -> None:
    """Add nodes that move elements between DQ and Q, of one scale or several."""
    dtype = dtype_of(b)
    s = Scale(b, dtype)
    x = real(b, b.dims(1, 4, 4), s)
    for _ in range(b.integer(1, 3)):
        x = move(b, x)
        if b.chance(0.2):
            x = b.op(b.choice("Relu", "Tanh", "Neg"), x)
        if b.chance(0.2):
            b.op(b.choice("Neg", "Sigmoid"), x)
    if b.chance(0.15) and b.shape(x):
        b.op(b.choice("ArgMax", "ArgMin"), x, axis=0, keepdims=b.choice(0, 1))
    if b.chance(0.85):
        q(b, x, s if b.chance(0.7) else Scale(b, dtype_of(b)))


def joined(b: Builder) -> None:
    """Add Concat, Max or Min of tensors of one scale or of several, and moves around it."""
    dtype = dtype_of(b)
    s = Scale(b, dtype)
    shape = b.dims(1, 4, 4)
    parts = [
        real(b, shape, s if b.chance(0.8) else Scale(b, dtype), b.chance(0.3))
        for _ in range(b.integer(1, 3))
    ]
    if b.chance(0.2):
        parts.append(b.op("Relu", parts[0]))
    if b.chance(0.15):
        parts.append(b.constant(b.factors(*shape)))
    if b.chance(0.6):
        y = b.op("Concat", *parts, axis=b.axis(b.integer(0, len(shape) - 1), len(shape)))
    else:
        y = b.op(b.choice("Max", "Min"), *parts)
    if b.chance(0.4):
        y = move(b, y)
    if b.chance(0.85):
        q(b, y, s if b.chance(0.7) else Scale(b, dtype_of(b)))
    if b.chance(0.2):
        b.op("Neg", y)


def hoisted(b: Builder) -> None:
    """Add nodes that compute floats, then move or limit them, then Q."""
    s = Scale(b, dtype_of(b))
    x = b.op("Sin", b.input(b.dims(1, 4, 4)))
    if b.chance(0.3):
        x = b.op("Concat", x, b.op("Cos", b.input(b.shape(x))), axis=0)
    for _ in range(b.integer(1, 3)):
        kind = b.choice("move", "move", "relu", "clip")
        if kind == "move":
            x = move(b, x)
        elif kind == "relu":
            x = b.op("Relu", x)
        else:
            limits = b.choice((0, 6), (-0.5, 0.5), (0.3, None), (None, 0.2), (0.5, -0.5))
            x = b.op("Clip", x, *[None if v is None else np.float32(v) for v in limits])
    y = q(b, x, s)
    if b.chance(0.4):
        same = q(b, x, s if b.chance(0.7) else Scale(b, dtype_of(b)))
        dq(b, same, s) if b.dtype(same) == b.dtype(y) else same
    if b.chance(0.5):
        dq(b, y, s)


_UNARY = str.split(
    """Abs Cos Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu Log Neg Relu Round Selu Sigmoid
    Sign Softplus Softsign Sqrt Tanh"""
)


def tables(b: Builder) -> None:
    """Add functions of one tensor of bytes, in a chain or joined by operators of two."""
    s = Scale(b, dtype_of(b))
    x = first = real(b, b.dims(0, 3, 4), s)
    for _ in range(b.integer(1, 3)):
        kind = b.choice("unary", "unary", "constant", "both", "clip", "again", "prelu")
        if kind == "unary":
            op = b.choice(*_UNARY)
            x = b.op(
                op, b.op("Abs", x) if op in ("Sqrt", "Log") else x
            )  # no NaN: it has no integer
        elif kind == "constant":
            c = b.factors(*b.choice([], [], [1], b.shape(x)[-1:]))
            x = b.op(b.choice("Add", "Mul", "Sub", "Div", "Max", "Min"), x, c)
        elif kind == "both":
            x = b.op(b.choice("Mul", "Add", "Sub"), x, first)
        elif kind == "clip":
            x = b.op("Clip", x, np.float32(-0.3), np.float32(b.choice(0.4, 1)))
        elif kind == "prelu":
            x = b.op(
                "PRelu", x, b.factors(*b.choice([], [1], b.shape(x)[-1:]) if b.shape(x) else [])
            )
        else:
            other = Scale(b, dtype_of(b))
            x = dq(b, q(b, x, other), other)
        if b.chance(0.15):
            b.op("Identity", x)
    if b.chance(0.75):
        q(b, x, Scale(b, dtype_of(b)))


def of_constants(b: Builder) -> None:
    """Add weights that are floats in the file, have few bits or blocks, and scalars."""
    kind = b.choice("scalar", "weights", "alone", "block", "floats")
    s = Scale(b, dtype_of(b))
    x = real(b, [b.integer(1, 3), 8], s) if b.chance(0.6) else b.input([b.integer(1, 3), 8])
    if kind == "scalar":
        ends = np.iinfo(s.dtype)
        c = b.constant(b.rng.integers(ends.min, ends.max, b.choice((), (1,))), s.dtype)
        y = b.op(b.choice("Mul", "Add"), x, dq(b, c, Scale(b, s.dtype)))
    elif kind == "block" and b.opset >= 21:
        scale = b.rng.uniform(0.1, 0.2, (2, 4)).astype(np.float32)
        values = b.constant(b.rng.integers(-8, 7, (8, 4)), "int4")
        w = b.op("DequantizeLinear", values, scale, axis=0, block_size=4)
        y = b.op("MatMul", x, w)
    elif kind == "floats":
        w = q(b, b.constant(b.randn(8, 4)), one := Scale(b, dtype_of(b)))
        y = b.op("MatMul", x, dq(b, w, one))
    elif kind == "alone":
        y = b.op(b.choice("Add", "Mul", "Max"), x, weights(b, [1, 8], 1))
    else:
        y = b.op("MatMul", x, weights(b, [8, 4], b.choice(0, 1)))
    if b.chance(0.6):
        q(b, y, Scale(b, s.dtype, 0.06))
