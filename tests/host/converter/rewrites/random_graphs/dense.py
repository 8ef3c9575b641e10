"""Random graphs of layers with weights, and of the nodes that are merged into them."""

from __future__ import annotations

import numpy as np
from onnx import helper

from .builder import Builder

_LOWEST = float(np.finfo(np.float32).min)


def conv(b: Builder, x: str | None = None, rank: int | None = None, **attributes) -> str:
    """Add a Conv with any attributes; at times its weights are an input."""
    if x is None:
        rank = rank or b.choice(3, 4, 4, 4, 5)
        most = {3: 12, 4: 7, 5: 5}[rank]
        x = b.source([b.integer(1, 2), b.integer(1, 6), *b.integers(3, most, rank - 2)])
    _, c, *plane = b.shape(x)
    spatial = len(plane)
    group = b.choice(1, 1, 1, c, *(d for d in range(1, c) if c % d == 0))
    kernel = [b.integer(1, min(3, n)) for n in plane]
    m = group * b.integer(1, max(1, 6 // group))
    attrs = {"strides": [b.choice(1, 1, 2) for _ in plane]} if b.chance(0.4) else {}
    if b.chance(0.5):
        attrs["pads"] = b.integers(0, 1, 2 * spatial)
    elif b.chance(0.2):
        attrs["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER", "VALID")
    elif b.chance(0.2):
        attrs["dilations"] = [
            b.choice(1, 2) if 2 * k <= n else 1 for k, n in zip(kernel, plane, strict=True)
        ]
    if b.chance(0.6):
        attrs["kernel_shape"] = kernel
    w = weights(b, m, c // group, *kernel)
    bias = [weights(b, m)] if b.chance(0.5) else []
    return b.op("Conv", x, w, *bias, group=group, **attrs | attributes)


def weights(b: Builder, *shape: int):
    """Return weights: mostly a constant that one node reads."""
    if b.chance(0.05):
        return b.input(shape)
    data = b.randn(*shape)
    if b.chance(0.08):
        name = b.constant(data)
        b.op("Tanh", name)
        return name
    return data


def conv_transpose(b: Builder, x: str | None = None) -> str:
    x = x or b.source([b.integer(1, 2), b.integer(1, 6), *b.integers(2, 5, b.choice(1, 2, 2))])
    _, c, *plane = b.shape(x)
    group = b.choice(1, 1, *(d for d in range(1, c + 1) if c % d == 0))
    kernel, m = b.integers(1, 3, len(plane)), b.integer(1, 3)
    attributes = {"strides": b.integers(1, 2, len(plane))}
    if b.chance(0.3):
        attributes["pads"] = [b.integer(0, min(1, k - 1)) for k in kernel * 2]
    bias = [weights(b, group * m)] if b.chance(0.5) else []
    return b.op("ConvTranspose", x, weights(b, c, m, *kernel), *bias, group=group, **attributes)


def gemm(b: Builder, x: str | None = None) -> str:
    m, k, n = b.integers(1, 6, 3)
    trans_a, trans_b = int(b.chance(0.15)), int(b.chance(0.4))
    if x is None:
        x = b.source([k, m] if trans_a else [m, k])
    m, k = b.shape(x)[::-1] if trans_a else b.shape(x)
    w = weights(b, n, k) if trans_b else weights(b, k, n)
    c = b.choice([n], [n], [1, n], [], [1], [m, 1], [m, n])
    bias = [weights(b, *c)] if b.chance(0.7) else []
    attributes = {"alpha": b.choice(0.5, -2.0, 0.0)} if b.chance(0.2) else {}
    if b.chance(0.2):
        attributes["beta"] = b.choice(0.0, 0.25, 2.0)
    return b.op("Gemm", x, w, *bias, transA=trans_a, transB=trans_b, **attributes)


def matmul(b: Builder, x: str | None = None) -> str:
    x = x or b.source(b.dims(1, 4))
    *batch, k = b.shape(x) or b.shape(x := b.unsqueeze(x, 0))
    n = b.integer(1, 6)
    shape = b.choice(*[[k, n]] * 8, [k], [*batch[:-1], k, n])
    return b.op("MatMul", x, weights(b, *shape))


_LINEAR = (conv, conv, conv_transpose, gemm, matmul)


def linear(b: Builder, x: str | None = None) -> str:
    """Add any dense layer, of x if x is not None: one that takes its rank."""
    if x is None:
        return b.choice(*_LINEAR)(b)
    rank = len(b.shape(x))
    fits = {
        2: (gemm, matmul),
        3: (conv, matmul, conv_transpose),
        4: (conv, conv, matmul, conv_transpose),
        5: (conv,),
    }
    return b.choice(*fits.get(rank, (matmul,)))(b, x)


def view(b: Builder, x: str) -> str:
    """Return a value with the elements of x in another shape."""
    shape = b.shape(x)
    kind = b.choice("reshape", "flatten", "unsqueeze", "rows")
    if kind == "flatten":
        return b.op("Flatten", x, axis=b.axis(b.integer(0, len(shape)), len(shape)) or 0)
    if kind == "unsqueeze":
        return b.unsqueeze(x, b.integer(0, len(shape)))
    if kind == "rows" and shape:
        return b.reshape(x, *b.regrouped(shape[:-1]), shape[-1])
    return b.reshape(x, *b.regrouped(shape))


def clip(b: Builder, x: str, low, high) -> str:
    """Add a Clip of x; a limit of None is omitted."""
    as_input = [None if v is None else np.float32(v) for v in (low, high)]
    if b.chance(0.05):
        as_input[0] = b.input([])
    return b.op("Clip", x, *as_input)


def activation(b: Builder, x: str) -> str:
    op = b.choice("Relu", "Relu", "LeakyRelu", "Clip", "HardSigmoid", "Sigmoid", "Tanh", "Elu")
    if op == "Clip":
        return clip(b, x, *b.choice((0, 1), (None, 0.5), (-0.5, None), (None, None), (0.4, -0.4)))
    attributes = {"alpha": b.choice(0.3, 0.0, -0.5)} if op == "LeakyRelu" and b.chance(0.6) else {}
    if op == "HardSigmoid" and b.chance(0.6):
        attributes = {"alpha": 0.3, "beta": b.choice(0.4, 0.0)}
    return b.op(op, x, **attributes)


def activations(b: Builder) -> None:
    y = linear(b)
    if b.chance(0.2):
        y = view(b, y)
    y = activation(b, y)
    if b.chance(0.2):
        y = activation(b, y)
    b.behind(y)


def residuals(b: Builder) -> None:
    x = b.source([1, b.integer(1, 4), *b.integers(4, 7, b.choice(1, 2, 2))])
    y = conv(b, x)
    shape = b.shape(y)
    kind = b.choice("input", "input", "input", "conv", "constant", "broadcast", "itself", "larger")
    if kind == "conv":
        z = b.op("Conv", x, b.randn(*b.shape(b.nodes[-1].input[1])), **_attributes(b.nodes[-1]))
    elif kind == "itself":
        z = y
    elif kind == "constant":
        z = b.randn(*shape)
    elif kind == "broadcast":
        z = b.input([*shape[:2], *[1] * (len(shape) - 2)])
    else:
        z = b.input([b.integer(1, 2), *shape] if kind == "larger" else shape)
    y = b.op(b.choice(*["Add"] * 6, "Sum", "Sub"), y, z)
    b.behind(activation(b, y) if b.chance(0.5) else y)


def _attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def batch_norm(b: Builder) -> None:
    """Add a BatchNormalization: after a layer, before one, between two, or alone."""
    if b.chance(0.6):
        y = linear(b)
        if b.chance(0.15):
            y = view(b, y)
    else:
        y = b.source(b.dims(2, 4))
    y = norm(b, y)
    if b.chance(0.6):
        y = linear(b, y)
    b.behind(y)


def norm(b: Builder, x: str) -> str:
    x = x if len(b.shape(x)) > 1 else b.unsqueeze(x, 0)
    c = (b.shape(x) + [1, 1])[1]
    attributes = {"epsilon": b.choice(1e-3, 0.1)} if b.chance(0.5) else {}
    variance = b.rng.uniform(0.1, 2, c).astype(np.float32)
    scale = weights(b, c)
    return b.op("BatchNormalization", x, scale, b.randn(c), b.randn(c), variance, **attributes)


def _beside(b, shape, channels):
    """Return a constant operand for a tensor: one number, one for each channel, or more."""
    rank = len(shape)
    own = [1] * rank
    own[channels] = shape[channels]
    other = [1] * rank
    axis = b.integer(0, rank - 1)
    other[axis] = shape[axis]
    behind = own[channels:] if channels >= 0 else own
    return b.factors(
        *b.choice(
            [], [1], own, own, behind, behind, other, shape, [1, *own], [2, *shape], [1] * rank
        )
    )


def scaled(b: Builder, x: str, channels: int) -> str:
    """Add arithmetic with a constant, in either order."""
    op = b.choice("Mul", "Add", "Sub", "Div", "Neg")
    if op == "Neg":
        return b.op("Neg", x)
    c = _beside(b, b.shape(x), channels)
    if b.chance(0.04):
        c = np.zeros_like(c) if op != "Div" else c
    c = b.input(c.shape) if b.chance(0.05) and op != "Div" else c
    if op == "Sub" and b.chance(0.4):
        return b.op(op, c, x)
    if op == "Div" and b.chance(0.2):
        return b.op("Div", c, b.op("Softplus", x))
    return b.op(op, x, c)


def constants(b: Builder) -> None:
    y = linear(b) if b.chance(0.6) else b.source(b.dims(1, 4))
    is_row = b.nodes and b.nodes[-1].op_type in ("Gemm", "MatMul")
    if b.chance(0.15):
        y = view(b, y)
    for _ in range(b.integer(1, 3)):
        rank = len(b.shape(y))
        if not rank:
            break
        y = scaled(b, y, rank - 1 if is_row or rank < 2 else 1)
    if b.shape(y) and b.chance(0.5):
        y = linear(b, y)
    b.behind(y)


def gemms(b: Builder) -> None:
    y = matmul(b, b.source([*b.dims(1, 3, 4), b.integer(2, 6)]) if b.chance(0.7) else None)
    shape = b.shape(y)
    row = b.choice(
        *[shape[-1:]] * 6, [1, *shape[-1:]], [1, 1, *shape[-1:]], [1], [], shape, shape[:-1] + [1]
    )
    y = b.op("Add", y, weights(b, *row))
    b.behind(activation(b, y) if b.chance(0.3) else y)


def pad(b: Builder, x: str, pads, fill, mode="constant", axes=None) -> str:
    extra = {} if mode == "constant" and b.chance(0.5) else {"mode": mode}
    if axes is not None:
        return b.op("Pad", x, np.int64(pads), fill, np.int64(axes), **extra)
    return b.op("Pad", x, np.int64(pads), fill, **extra)


def pads(b: Builder) -> None:
    """Add a Pad and the node that reads it; most of these pairs can be merged."""
    spatial = b.choice(1, 2, 2, 3)
    x = b.source([b.integer(1, 2), b.integer(1, 3), *b.integers(3, 6, spatial)])
    x = b.op(b.choice("Relu", "Relu", "Abs", "Sigmoid", "Exp", "Neg", "Tanh"), x)
    if b.chance(0.2):
        x = clip(b, x, b.choice(0, 0.2, -1, None), 1)
    reader = b.choice("Conv", "Conv", "AveragePool", "MaxPool", "MaxPool", "LpPool")
    mode = b.choice(*["constant"] * 8, "reflect", "edge")
    around = b.integers(0, b.choice(1, 1, 2), 2 * spatial)
    if b.chance(0.08):
        around[0] = -1
    whole = [0, 0, *around[:spatial], 0, 0, *around[spatial:]]
    if b.chance(0.06):
        whole[1] = 1
    fill = b.choice(None, 0, 0, 0, 0.5, -3)
    if reader == "MaxPool" and b.chance(0.6):
        fill = b.choice(_LOWEST, -np.inf)
    value = None if fill is None else np.float32(fill)
    if b.opset >= 18 and mode == "constant" and b.chance(0.2):
        axes = [b.axis(2 + i, spatial + 2) for i in range(spatial)]
        y = pad(b, x, around, value, mode, axes)
    else:
        y = pad(b, x, whole, value, mode)
    if b.chance(0.1):
        b.op("Softplus", y)
    y = conv(b, y) if reader == "Conv" else pool(b, y, reader)
    b.behind(y, 0 if fill is not None and fill < -9 else 2)


def pool(b: Builder, x: str, op: str) -> str:
    """Add a pool with any attributes."""
    plane = b.shape(x)[2:]
    kernel = [b.integer(min(2, n), min(3, n)) for n in plane]
    attributes = {"strides": b.integers(1, 3, len(plane))} if b.chance(0.5) else {}
    if b.chance(0.3):
        attributes["pads"] = [b.integer(0, k // 2) for k in kernel * 2]
    elif b.chance(0.15):
        attributes["auto_pad"] = b.choice("SAME_UPPER", "VALID")
    if op != "LpPool" and b.chance(0.15):
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and b.chance(0.4):
        attributes["count_include_pad"] = 1
    if op == "MaxPool" and b.chance(0.1):
        most = [2 if 2 * k <= n else 1 for k, n in zip(kernel, plane, strict=True)]
        attributes["dilations"] = [b.integer(1, d) for d in most]
    if op == "MaxPool" and b.chance(0.1):
        return b.op(op, x, n=2, kernel_shape=kernel, **attributes)[0]
    return b.op(op, x, kernel_shape=kernel, **attributes)


def conv_max_pool(b: Builder) -> None:
    y = conv(b, rank=b.choice(3, 4, 4, 4, 5))
    if b.chance(0.25):
        y = b.op(
            "Add",
            y,
            b.choice(b.input(b.shape(y)), b.factors(b.shape(y)[1], *[1] * (len(b.shape(y)) - 2))),
        )
    if b.chance(0.5):
        y = activation(b, y)
    if b.chance(0.7):
        kernel = [b.integer(1, min(3, n)) for n in b.shape(y)[2:]]
        attributes = {"ceil_mode": 1} if b.chance(0.15) else {}
        y = b.op("MaxPool", y, kernel_shape=kernel, strides=kernel, **attributes)
    else:
        y = pool(b, y, "MaxPool")
    b.behind(y)
