"""Random graphs of nodes that only move elements, change nothing, or are duplicates."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .builder import SMOOTH, Builder
from .dense import clip, conv, linear, weights


def duplicates(b: Builder) -> None:
    """Add constants with equal contents, almost equal ones, and equal bytes of other dtypes."""
    x = b.source(shape := b.dims(1, 3))
    data = b.randn(*shape)
    near = data.copy()
    near.ravel()[0] = np.nextafter(near.ravel()[0], 2)
    same = [
        data,
        data,
        near,
        data.reshape(1, *shape),
        data.astype(np.float64),
        data.view(np.int32),
    ]
    zeros = [np.zeros(shape, np.float32), np.negative(np.zeros(shape, np.float32))]
    for c in [*same, *zeros, zeros[0]]:
        if b.chance(0.6):
            if c.dtype == np.float32:
                y = b.op(b.choice("Add", "Mul", "Sub", "Max"), x, b.constant(c))
            else:
                y = b.op("Mul", x, b.op("Cast", b.constant(c), to=TensorProto.FLOAT))
            x = b.op("Tanh", y) if b.chance(0.5) else x
    x = b.op("Add", b.op("Mul", x, np.float32(2)), np.float32(2))
    b.behind(x)


def common(b: Builder) -> None:
    """Add nodes with equal results; some differ in an attribute or the order of inputs."""
    x = b.source(b.dims(2, 4))
    z = b.input(b.shape(x))
    kind = b.choice("unary", "binary", "reduce", "split", "cast", "top", "chain")
    result = []
    numbers = [0.1, b.choice(0.1, 0.2), 0.1]
    for i in range(3):
        if kind == "unary":
            result.append(b.op(b.choice("LeakyRelu", "Elu"), x, alpha=numbers[i]))
        elif kind == "binary":
            result.append(b.op("Sub", *((x, z) if i != 1 or b.chance(0.5) else (z, x))))
        elif kind == "reduce":
            result.append(b.reduce("ReduceSum", x, b.choice(0, 1), keepdims=1))
            result[-1] = b.op("Mul", result[-1], z)
        elif kind == "split":
            sizes = [1] * b.shape(x)[1]
            result.append(b.split(x, 1, sizes)[-1])
        elif kind == "cast":
            to = b.choice(TensorProto.INT32, TensorProto.DOUBLE)
            result.append(b.op("Cast", b.op("Cast", x, to=to), to=TensorProto.FLOAT))
        elif kind == "top":
            k = b.constant(np.int64([1]))
            result.append(b.op("TopK", x, k, n=2, axis=b.choice(1, -1), largest=b.choice(0, 1))[0])
        else:
            result.append(b.op("Tanh", b.op("Neg", b.op("Abs", x))))
    for y in result:
        b.behind(y, 1)


def _trivial(b: Builder, x: str) -> str:
    """Add a node that changes nothing, or nearly nothing."""
    shape = b.shape(x)
    rank = len(shape)
    axis = b.integer(0, max(rank - 1, 0))
    kinds = [
        "identity",
        "dropout",
        "cast",
        "of_one",
        "neutral",
        "neutral",
        "reshape",
        "expand",
        "tile",
    ]
    kinds += ["transpose", "slice", "pad", "concat", "split", "resize", "flatten"] * bool(rank)
    kind = b.choice(*kinds)
    if kind == "identity":
        return b.op("Identity", x)
    if kind == "dropout":
        if b.opset < 12:
            return b.op("Dropout", x, ratio=0.5)
        return b.op("Dropout", x, np.float32(0.5), None if b.chance(0.5) else np.asarray(False))
    if kind == "cast":
        return b.op("Cast", x, to=TensorProto.FLOAT)
    if kind == "of_one":
        return b.op(b.choice("Sum", "Max", "Min", "Mean"), x)
    if kind == "neutral":
        op, number = b.choice(
            ("Mul", 1), ("Div", 1), ("Sub", 0), ("Add", 0), ("Mul", 0), ("Div", 2), ("Sub", 1)
        )
        own = b.choice([], [1], shape, [1] * rank, [1, *shape], [2, *[1] * rank])
        c = np.full(own, number, np.float32)
        return b.op(op, c, x) if op == "Sub" and b.chance(0.3) else b.op(op, x, c)
    if kind == "reshape":
        return b.reshape(x, *b.choice(shape, shape, shape[::-1]))
    if kind == "expand":
        return b.op(
            "Expand", x, np.int64(b.choice(shape, [1] * rank, [1], [1, *shape], [2, *shape]))
        )
    if kind == "tile":
        return b.op("Tile", x, np.int64([b.choice(1, 1, 1, 2) for _ in shape]))
    if kind == "transpose":
        return b.transpose(x, b.order(rank) if b.chance(0.4) else range(rank))
    if kind == "slice":
        n = shape[axis]
        start, end, step = b.choice(
            (0, n, 1), (0, 2**62, 1), (-n, n, 1), (-1, -n - 1, -1), (0, n, 2), (1, n, 1)
        )
        return b.slice(x, axis, start, end, step)
    if kind == "pad":
        around = [0] * (2 * rank)
        if b.chance(0.4):
            around[axis], around[rank + axis] = b.choice((1, -1), (1, 0), (-1, 1))
        return b.op("Pad", x, np.int64(around))
    if kind == "concat":
        return b.op("Concat", *[x] * b.choice(1, 1, 1, 2), axis=b.axis(axis, rank))
    if kind == "split":
        return b.split(x, axis, [shape[axis]])[0]
    if kind == "resize":
        return b.op("Resize", x, np.zeros(0, np.float32), np.float32([1] * rank), mode="nearest")
    return b.op("Flatten", x, axis=b.axis(axis, rank))


def identities(b: Builder) -> None:
    x = b.source(b.dims(0, 4)) if b.chance(0.8) else conv(b)
    if b.chance(0.15):
        x = b.op("Cast", x, to=b.choice(TensorProto.DOUBLE, TensorProto.FLOAT16))
        x = b.op("Cast", x, to=TensorProto.FLOAT) if b.chance(0.9) else b.op("Identity", x)
    for _ in range(b.integer(1, 4)):
        x = _trivial(b, x)
        if b.chance(0.3):
            x = b.behind(x, 1)
    b.behind(x)


def view(b: Builder, x: str) -> str:
    """Add a node that only changes a shape."""
    shape = b.shape(x)
    rank = len(shape)
    ones = [a for a, d in enumerate(shape) if d == 1]
    kinds = (
        ["reshape", "unsqueeze", "flatten", "zero"]
        + ["squeeze"] * bool(ones)
        + ["transpose"] * bool(rank)
    )
    kind = b.choice(*kinds)
    if kind == "squeeze":
        chosen = [a for a in ones if b.chance(0.7)] or ones
        return b.op("Squeeze", x) if b.chance(0.2) else b.squeeze(x, *chosen)
    if kind == "unsqueeze":
        n = b.integer(1, 2)
        return b.unsqueeze(x, *sorted({b.integer(0, rank + n - 1) for _ in range(1)}))
    if kind == "flatten":
        axis = b.integer(0, rank)
        return b.op("Flatten", x, axis=axis - rank if axis < rank and b.chance(0.4) else axis)
    if kind == "zero" and rank:
        keeps = b.integer(0, rank - 1)
        return b.op("Reshape", x, np.int64([*[0] * keeps, -1]))
    if kind == "transpose":
        order = b.order(rank)
        if b.chance(0.7):
            long = iter(sorted(a for a in order if shape[a] != 1))
            order = [next(long) if shape[a] != 1 else a for a in order]
        return b.transpose(x, order)
    return b.reshape(x, *b.regrouped(shape))


def reshapes(b: Builder) -> None:
    shape = [d if b.chance(0.7) else 1 for d in b.dims(0, 4)]
    first = x = b.source(shape)
    for _ in range(b.integer(2, 4)):
        x = view(b, x)
        if b.chance(0.15):
            x = b.behind(x, 1)
    if b.chance(0.2):
        x = b.reshape(x, *shape) if np.prod(b.shape(x)) == np.prod(shape) else x
        x = b.op("Add", x, first) if b.shape(x) == shape else x
    b.behind(x)


def transposes(b: Builder) -> None:
    x = b.source(b.dims(2, 5, 4))
    rank = len(b.shape(x))
    for _ in range(b.integer(1, 3)):
        perm = b.order(rank)
        x = b.transpose(x, perm)
        if b.chance(0.2):
            x = b.op("Neg", x)
        if b.chance(0.2):
            b.op("Softplus", x)
        if b.chance(0.4):
            x = b.transpose(x, [perm.index(a) for a in range(rank)])
    b.behind(x)


def transposes_absorbed(b: Builder) -> None:
    """Add a Transpose, a view that may keep the first axis, and a dense layer."""
    shape = [b.choice(1, 1, 2, 3), *b.integers(2, 4, b.choice(2, 3, 3))]
    rank = len(shape)
    perm = [0, *(1 + a for a in b.order(rank - 1))] if b.chance(0.85) else b.order(rank)
    x = _flattened(b, b.transpose(b.source(shape), perm))
    for _ in range(b.choice(0, 0, 0, 1, 2)):
        x = _between(b, x)
    k = b.shape(x)[-1]
    if len(b.shape(x)) == 2 and b.chance(0.5):
        turned = int(b.chance(0.5))
        w = weights(b, 4, k) if turned else weights(b, k, 4)
        y = b.op("Gemm", x, w, b.randn(4), transB=turned)
    else:
        y = b.op("MatMul", x, weights(b, *b.choice([k, 3], [k, 3], [k, 3], [k])))
    b.behind(y)


def _flattened(b, x):
    shape = b.shape(x)
    kind = b.choice("rows", "rows", "flatten", "flatten", "zero", "ones", "other")
    if kind == "rows":
        return b.reshape(x, shape[0], int(np.prod(shape[1:])))
    if kind == "flatten":
        return b.op("Flatten", x, axis=b.axis(1, len(shape)))
    if kind == "zero":
        return b.op("Reshape", x, np.int64([0, -1]))
    if kind == "ones":
        return b.reshape(x, shape[0], *b.choice([1], [1, 1]), int(np.prod(shape[1:])))
    return b.reshape(x, *b.regrouped(shape))


def _between(b, x):
    kind = b.choice("unary", "unary", "clip", "clip", "row", "view")
    if kind == "unary":
        return b.op(b.choice(*SMOOTH, "HardSigmoid"), x)
    if kind == "clip":
        return clip(b, x, -1, 1)
    if kind == "row":
        return b.op("Mul", x, b.factors(*b.shape(x)[-1:]))
    return view(b, x)


def _same(b, made, x):
    """Return a value with the shape of x, possibly x itself."""
    return b.choice(*[v for v in made if b.shape(v) == b.shape(x)])


def _middle(b: Builder, x: str, made: list[str]) -> list[str]:
    """Add a node through which a Transpose may be pushed, or may not; return its outputs."""
    shape = b.shape(x)
    rank = len(shape)
    axis = b.integer(0, rank - 1) if rank else 0
    kinds = ["unary", "binary", "constant", "constant", "clip"]
    kinds += [
        "concat",
        "split",
        "slice",
        "pad",
        "softmax",
        "reduce",
        "arg",
        "view",
        "input",
        "matmul",
        "where",
        "quantize",
    ] * bool(rank)
    kind = b.choice(*kinds)
    if kind == "unary":
        return [b.op(b.choice(*SMOOTH), x)]
    if kind == "binary":
        return [b.op(b.choice("Add", "Sub", "Mul", "Max", "Mean"), x, _same(b, made, x))]
    if kind == "constant":
        own = [d if b.chance(0.5) else 1 for d in shape][b.integer(0, max(rank - 1, 0)) :]
        own = b.choice(own, own, [], shape)
        c = b.factors(*own)
        op = b.choice("Add", "Mul", "Sub", "Div", "Min", "PRelu")
        return [b.op(op, c, x) if op == "Sub" and b.chance(0.5) else b.op(op, x, c)]
    if kind == "clip":
        return [clip(b, x, -1, None)]
    if kind == "concat":
        others = [x, _same(b, made, x)]
        return [b.op("Concat", *others, axis=b.axis(axis, rank))]
    if kind == "split" and shape[axis] > 1:
        first = b.integer(1, shape[axis] - 1)
        return b.split(x, axis, [first, shape[axis] - first])
    if kind == "slice":
        if b.chance(0.3):
            return [b.op("Slice", x, np.int64([0]), np.int64([max(1, shape[0] - 1)]))]
        return [
            b.slice(x, axis, *b.choice((0, max(1, shape[axis] - 1), 1), (-1, -9, -1), (0, 9, 2)))
        ]
    if kind == "pad":
        around = [b.choice(0, 0, 1) for _ in range(2 * rank)]
        mode = b.choice("constant", "constant", "edge")
        return [b.op("Pad", x, np.int64(around), np.float32(0.5), mode=mode)]
    if kind == "softmax":
        return [b.op(b.choice("Softmax", "LogSoftmax"), x, axis=b.axis(axis, rank))]
    if kind == "reduce":
        axes = [a for a in range(rank) if b.chance(0.4)] or [axis]
        op = b.choice("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp")
        x = b.op("Abs", x) if op in ("ReduceMean", "ReduceSum") else x  # else signs may cancel
        return [b.reduce(op, x, *axes, keepdims=b.choice(0, 1, 1))]
    if kind == "arg":
        result = b.op("ArgMax", x, axis=b.axis(axis, rank), keepdims=b.choice(0, 1))
        return [b.op("Cast", result, to=TensorProto.FLOAT)]
    if kind == "view":
        return [view(b, x)]
    if kind == "input":
        own = [d if b.chance(0.8) else 1 for d in shape]
        return [b.op(b.choice("Add", "Mul"), x, b.input(b.choice(own, own, own[1:], [])))]
    if kind == "where":
        condition = b.op("Greater", x, b.choice(np.float32(0), _same(b, made, x)))
        return [b.op("Where", condition, x, _same(b, made, x))]
    if kind == "quantize":
        if b.chance(0.4) and b.opset >= 13:
            scale = b.rng.uniform(0.02, 0.1, shape[axis]).astype(np.float32)
            attributes = {"axis": b.axis(axis, rank)}
        else:
            scale, attributes = np.float32(0.031), {}
        zero = np.full(scale.shape, 99, np.uint8)
        y = b.op("QuantizeLinear", x, scale, zero, **attributes)
        return [b.op("DequantizeLinear", y, scale, zero, **attributes)]
    if kind == "matmul":
        return [b.op("MatMul", x, weights(b, shape[-1], 3))]
    return [b.op("Neg", x)]


def transposes_pushed(b: Builder) -> None:
    """Add one or two Transposes, other nodes, then Transposes that restore the layout."""
    x = b.source(shape := b.dims(2, 4, 5))
    rank = len(shape)
    x = conv(b, x) if rank == 4 and b.chance(0.4) else x
    rank, perm = len(b.shape(x)), b.order(len(b.shape(x)))
    back = [perm.index(a) for a in range(rank)]
    made = [b.transpose(x, perm)]
    if b.chance(0.3):
        made.append(b.transpose(b.input(b.shape(x)), perm))
    for _ in range(b.integer(1, 5)):
        at = b.choice(*made[-3:])
        made += _middle(b, at, made)
    for name in made[-3:]:
        if len(b.shape(name)) == rank and b.chance(0.8):
            y = b.transpose(name, back)
            b.behind(y, 1)
            if rank == 4 and b.chance(0.3):
                linear(b, y)
