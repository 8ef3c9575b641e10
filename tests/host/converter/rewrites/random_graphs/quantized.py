"""Random graphs as quantizers write them: operators between DQ and Q."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .builder import Builder
from .functions import fast_gelu, gelu, swish
from .quantization import (
    BYTES,
    WIDE,
    Scale,
    bias,
    dq,
    dtype_of,
    ending,
    integer_bias,
    q,
    real,
    weights,
)
from .quantized_moves import move


def _product_scale(b, k):
    return float(np.float32(0.004 * np.sqrt(k) * b.rng.uniform(0.7, 1.4)))


def convs(b: Builder, dtypes=BYTES) -> None:
    dtype = b.choice(*dtypes)
    spatial = b.choice(1, 2, 2, 2, 3)
    c, group = b.integer(1, 4), 1
    if b.chance(0.3):
        group = c
    m = group * b.integer(1, 3)
    plane, kernel = b.integers(3, 6, spatial), b.integers(1, 3, spatial)
    s = Scale(b, dtype)
    x = real(b, [b.integer(1, 2), c, *plane], s)
    attributes = {"strides": b.integers(1, 2, spatial)} if b.chance(0.3) else {}
    if b.chance(0.5):
        attributes["pads"] = b.integers(0, 1, 2 * spatial)
    elif b.chance(0.2):
        attributes["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER")
    if dtypes is BYTES and b.chance(0.15):  # onnxruntime pads no 16 bits
        around = [0, 0, *b.integers(0, 1, spatial)]
        x = b.op("Pad", x, np.int64([*around, *around]), np.float32(b.choice(0, 0, 0.5)))
    w = weights(b, [m, c // group, *kernel], 0)
    inputs, added = [x, w], None
    kind = b.choice("integer", "integer", "none", "float", "behind", "behind")
    if kind == "integer":
        inputs.append(integer_bias(b, m, s, w))
    elif kind == "float":
        inputs.append(bias(b, [m]))
    elif kind == "behind":
        own = b.choice(
            [m, *[1] * spatial],
            [1, m, *[1] * spatial],
            [],
            [1] * (spatial + 2),
            [m, *[1] * (spatial - 1)],
        )
        added = bias(b, own)
    y = b.op("Conv", *inputs, group=group, **attributes)
    if added is not None:
        y = b.op("Add", y, added)
    ending(b, y, Scale(b, dtype, _product_scale(b, c * np.prod(kernel) * 40) * 0.3))


def transposed(b: Builder) -> None:
    dtype, spatial = dtype_of(b), b.choice(1, 2, 2)
    c, m = b.integer(1, 4), b.integer(1, 3)
    group = b.choice(1, 1, c)
    s = Scale(b, dtype)
    x = real(b, [1, c, *b.integers(2, 5, spatial)], s)
    w = weights(b, [c, m, *b.integers(1, 3, spatial)], b.choice(1, 1, 1, 0))
    attributes = {"strides": b.integers(1, 2, spatial)} if b.chance(0.5) else {}
    inputs = [x, w]
    if b.chance(0.5):
        inputs.append(bias(b, [m * group]))
    y = b.op("ConvTranspose", *inputs, group=group, **attributes)
    if b.chance(0.3):
        y = b.op(
            "Add",
            y,
            bias(b, b.choice([m * group, *[1] * spatial], [], [1, m * group, *[1] * spatial])),
        )
    ending(b, y, Scale(b, dtype, 0.05), 0.95)


def products(b: Builder, dtypes=BYTES) -> None:
    dtype = b.choice(*dtypes)
    s = Scale(b, dtype)
    k, n = b.integer(1, 12), b.integer(1, 6)
    size = Scale(b, dtype, _product_scale(b, k) * 4)
    kind = b.choice("gemm", "gemm", "matmul", "matmul", "two")
    if kind == "gemm":
        m = b.choice(1, 2, 3, n)
        trans_a, trans_b = int(b.chance(0.1)), int(b.chance(0.5))
        x = real(b, [k, m] if trans_a else [m, k], s)
        w = weights(b, [n, k] if trans_b else [k, n], 1 - trans_b)
        c = b.choice("integer", "integer", "none", "float", "number", "column")
        inputs = [x, w]
        if c == "integer":
            inputs.append(integer_bias(b, n, s, w))
        elif c != "none":
            inputs.append(
                bias(b, {"float": [n], "number": b.choice([], [1]), "column": [m, 1]}[c])
            )
        attributes = {"alpha": b.choice(0.5, -0.5)} if b.chance(0.15) else {}
        attributes |= {"beta": 2.0} if b.chance(0.15) else {}
        y = b.op("Gemm", *inputs, transA=trans_a, transB=trans_b, **attributes)
    else:
        shape = [*b.dims(0, 2, 3), b.integer(1, 4), k][-b.choice(1, 2, 3, 4) :]
        x = real(b, shape, s)
        if kind == "two":
            other = Scale(b, dtype)
            batch = shape[:-2] if b.chance(0.6) else []
            y = b.op("MatMul", x, real(b, [*batch, k, n], other, False))
        else:
            y = b.op("MatMul", x, weights(b, [k, n], 1))
            if b.chance(0.6):
                y = b.op(
                    "Add",
                    y,
                    bias(
                        b,
                        b.choice(
                            [n], [n], [1, n], [], [1], b.shape(y), [3, *[1] * len(b.shape(y))]
                        ),
                    ),
                )
    ending(b, y, size)


def elementwise(b: Builder, dtypes=BYTES) -> None:
    dtype = b.choice(*dtypes)
    one, two, y = Scale(b, dtype), Scale(b, b.choice(*[dtype] * 8, *dtypes)), Scale(b, dtype, 0.07)
    shape = b.dims(1, 4, 5)
    if b.chance(0.25):
        x = real(b, shape, Scale(b, dtype, 0.1))
        if b.chance(0.5):
            number = np.full(b.choice((), (), (1,), shape), b.choice(0.35, 2.83, -1), np.float32)
            op, first = b.choice(("Div", True), ("Mul", True), ("Mul", False))
            x = b.op(op, x, number) if first else b.op(op, number, x)
        out = b.op("Softmax", x, axis=b.axis(b.integer(0, len(shape) - 1), len(shape)))
        ending(b, out, Scale(b, dtype, 1 / 256, np.iinfo(dtype).min), 0.95)
        return
    x = real(b, shape, one)
    own = [d if b.chance(0.7) else 1 for d in shape]
    other = b.choice(shape, shape, own, own[1:], [1, *own], [2, *own], [])
    kind = b.choice("real", "real", "real", "constant", "itself", "float")
    if kind == "itself":
        z = x
    elif kind == "constant":
        ends = np.iinfo(dtype)
        z = dq(b, b.constant(b.rng.integers(ends.min, ends.max, other, endpoint=True), dtype), two)
    elif kind == "float":
        z = b.constant(b.factors(*other))
    else:
        z = real(b, other, two, False)
    op = b.choice("Add", "Add", "Sub", "Mul", "Sum")
    pair = (z, x) if b.chance(0.3) else (x, z)
    ending(b, b.op(op, *pair), y)


def normalized(b: Builder) -> None:
    """Add LayerNormalization over the last axes; its scale and bias have any shape that fits."""
    dtype = dtype_of(b)
    x = real(b, shape := [*b.dims(0, 3, 4), b.integer(2, 9)], Scale(b, dtype))
    axis = b.choice(len(shape) - 1, len(shape) - 1, b.integer(0, len(shape) - 1))
    own = b.choice(shape[axis:], shape[axis:], shape[-1:], [1])
    scale, bias = b.rng.normal(1, 0.3, own), b.rng.normal(0, 0.3, own)
    scale = b.choice(scale.astype(np.float32), weights(b, own, len(own) - 1))
    inputs = [x, scale] + ([bias.astype(np.float32)] if b.chance(0.8) else [])
    out = b.op("LayerNormalization", *inputs, axis=b.axis(axis, len(shape)))
    y = Scale(b, b.choice(*[dtype] * 8, *BYTES), b.choice(0.0199, 0.0101))
    ending(b, out, y, 0.95)


def deviations(b: Builder) -> None:
    """Add the first half of a norm in its steps, quantized between them."""
    dtype = dtype_of(b)
    x = real(b, shape := [*b.dims(0, 2, 3), b.integer(4, 9)], Scale(b, dtype))
    axis = len(shape) - 1
    d = b.op("Sub", x, b.reduce("ReduceMean", x, axis))
    if b.chance(0.5):
        square = b.op("Pow", d, np.float32(b.choice(*[2] * 8, 4)))
    else:
        square = b.op("Mul", d, d)
    v = Scale(b, dtype, 0.04)
    variance = dq(b, q(b, b.reduce("ReduceMean", square, axis), v), v)
    total = b.op("Add", variance, np.float32(b.choice(0.1, 0.5)))
    root = b.op("Sqrt", total)
    if b.chance(0.5):
        r = Scale(b, dtype, 0.02)
        root = dq(b, q(b, root, r), r)
    ending(b, b.op("Div", d, root), Scale(b, dtype, 0.05), 0.95)


def means(b: Builder, dtypes=BYTES) -> None:
    dtype = b.choice(*dtypes)
    s, y = Scale(b, dtype), Scale(b, dtype, 0.02)
    kind = b.choice("AveragePool", "AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceMean")
    if kind == "ReduceMean":
        x = real(b, shape := b.dims(1, 4, 5), s)
        axes = [a for a in range(len(shape)) if b.chance(0.5)] or [0]
        keepdims = b.choice(0, 1)
        out = (
            b.op(kind, x, keepdims=keepdims)
            if b.chance(0.1)
            else b.reduce(kind, x, *axes, keepdims=keepdims)
        )
    else:
        spatial = b.choice(1, 2, 2, 3)
        x = real(b, [b.integer(1, 2), b.integer(1, 3), *b.integers(2, 6, spatial)], s)
        attributes = {}
        if kind == "AveragePool":
            kernel = [b.integer(1, min(3, n)) for n in b.shape(x)[2:]]
            attributes = {"kernel_shape": kernel}
            if b.chance(0.5):
                attributes["strides"] = b.integers(1, 3, spatial)
            if b.chance(0.4):
                attributes["pads"] = [b.integer(0, k // 2) for k in kernel * 2]
            elif b.chance(0.2):
                attributes["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER")
            if b.chance(0.3):
                attributes["count_include_pad"] = 1
            if b.chance(0.2):
                attributes["ceil_mode"] = 1
            if b.chance(0.1) and b.opset >= 19:
                attributes["dilations"] = [1] * spatial
        out = b.op(kind, x, **attributes)
    ending(b, out, y, 0.95)


def resized(b: Builder) -> None:
    dtype = dtype_of(b)
    s = Scale(b, dtype)
    h, w = b.integers(2, 4, 2)
    x = real(b, [1, b.integer(1, 2), h, w], s)
    mode = b.choice("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    kind = b.choice("linear", "linear", "linear", "linear", "nearest", "cubic")
    roi = None if b.opset >= 13 else np.zeros(0, np.float32)
    if b.chance(0.5):
        extents = [roi, np.float32([1, 1, b.choice(2, 1.5, 1, 3), b.choice(2, 2.5, 0.5)])]
    else:
        scales = None if b.opset >= 13 else np.zeros(0, np.float32)
        extents = [roi, scales, np.int64([1, b.shape(x)[1], b.integer(2, 7), b.integer(2, 7)])]
    y = b.op("Resize", x, *extents, mode=kind, coordinate_transformation_mode=mode)
    ending(b, y, b.choice(s, Scale(b, dtype, 0.02)), 0.95)


def dynamic(b: Builder) -> None:
    """Add a dynamically quantized product, followed by its scale and offset."""
    k, n = b.integer(1, 8), b.integer(1, 5)
    is_conv = b.chance(0.4)
    shape = [1, k, *b.integers(3, 5, 2)] if is_conv else [*b.dims(0, 2, 3), b.integer(1, 3), k]
    x, scale, zero = b.op("DynamicQuantizeLinear", b.source(shape), n=3)
    by_channel = b.chance(0.4)
    own = (n, 1, 1) if is_conv and by_channel else (n,) if by_channel else ()
    factor = (0.01 * b.rng.uniform(0.5, 1.5, own)).astype(np.float32)
    factor = factor.reshape(b.choice(factor.shape, (1,) * (1 - factor.ndim) + factor.shape))
    if is_conv:
        values = b.rng.integers(-127, 127, (n, k, *b.integers(1, 3, 2))).astype(np.int8)
        y = b.op("ConvInteger", x, values, zero)
    else:
        values = b.rng.integers(-127, 127, (k, n)).astype(np.int8)
        y = b.op("MatMulInteger", x, values, zero, b.choice(None, np.int8(0)))
    y = b.op("Cast", y, to=TensorProto.FLOAT)
    both = b.op("Mul", scale, factor) if b.chance(0.9) else scale
    y = b.op("Mul", y, both)
    if b.chance(0.7):
        row = [n, 1, 1] if is_conv else [n]
        y = b.op("Add", y, b.randn(*b.choice(row, row, [], [1, *row], [2, *[1] * len(shape)])))
    b.behind(y)


def fixed(b: Builder) -> None:
    """Add DynamicQuantizeLinear of a norm, or of a product with a gate."""
    k, n = b.integer(2, 8), b.integer(1, 5)
    x = b.source([*b.dims(0, 2, 3), b.integer(1, 3), k])
    if b.chance(0.4):
        axis = b.choice(-1, -1, len(b.shape(x)) - 2)
        row = b.shape(x)[axis:]
        factors = b.choice((1 + b.randn(*row), b.randn(*row)), (1 + b.randn(*row),))
        if b.chance(0.2):
            factors = (b.source(row), *factors[1:])
        y = b.op("LayerNormalization", x, *factors, axis=axis)
    else:
        q, scale, zero = b.op("DynamicQuantizeLinear", x, n=3)
        w = b.rng.integers(-127, 127, (k, n)).astype(np.int8)
        y = b.op("Cast", b.op("MatMulInteger", q, w, zero), to=TensorProto.FLOAT)
        own = b.choice((n,), ())
        factor = (0.01 * b.rng.uniform(0.5, 1.5, own)).astype(np.float32)
        y = b.op("Mul", y, b.op("Mul", scale, factor))
        y = b.op("Add", y, b.randn(n)) if b.chance(0.7) else y
        y = b.choice(gelu, gelu, fast_gelu, swish)(b, y)
    if b.chance(0.1):
        b.op("Neg", y)
    b.op("DynamicQuantizeLinear", y, n=3)


def wide(b: Builder) -> None:
    """Add operators with 16-bit integers: those of 8-bit models, Relu or Clip, or MaxPool."""
    kind = b.choice("conv", "matmul", "elementwise", "mean", "clip", "pool")
    if kind == "conv":
        convs(b, WIDE)
    elif kind == "matmul":
        products(b, WIDE)
    elif kind == "elementwise":
        elementwise(b, WIDE)
    elif kind == "mean":
        means(b, WIDE)
    else:
        dtype = b.choice(*WIDE)
        s = Scale(b, dtype)
        x = real(b, [1, b.integer(1, 3), *b.integers(2, 5, b.choice(1, 2))], s)
        if kind == "clip":
            x = (
                b.op("Relu", x)
                if b.chance(0.5)
                else b.op("Clip", x, b.choice(None, np.float32(-1)), b.choice(None, np.float32(1)))
            )
        else:
            x = b.op(
                "MaxPool",
                x,
                kernel_shape=[2] * (len(b.shape(x)) - 2),
                strides=b.integers(1, 2, len(b.shape(x)) - 2),
            )
        q(b, x, s if b.chance(0.6) else Scale(b, dtype))


def nets(b: Builder) -> None:
    """Add products of rows in a chain, with moves, sums and joins between: they flip bytes."""
    dtype = b.choice(np.int8, np.int8, np.int8, np.uint8)
    s = Scale(b, dtype)
    rows, k = b.integer(1, 3), b.choice(4, 8, 12, 5)
    x = b.input([rows, k], dtype)
    made = [(x, s)]
    for _ in range(b.integer(1, 4)):
        x, s = made[-1]
        shape = b.shape(x)
        kind = b.choice(
            "product", "product", "product", "table", "sum", "join", "move", "mean", "float"
        )
        y = Scale(b, dtype, 0.06)
        if kind == "product" and shape:
            w = b.constant(b.rng.integers(-127, 127, (shape[-1], b.choice(4, 8, 3))), np.int8)
            w = b.op("DequantizeLinear", w, np.float32(0.01), np.int8(b.choice(0, 3)))
            made.append((q(b, b.op("MatMul", dq(b, x, s), w), y), y))
        elif kind == "table":
            made.append((q(b, b.op(b.choice("Tanh", "Relu", "Sigmoid"), dq(b, x, s)), y), y))
        elif kind == "sum":
            others = [m for m in made if b.shape(m[0]) == shape]
            z = b.choice(*others)
            op = b.choice("Add", "Sub", "Mul")
            made.append((q(b, b.op(op, dq(b, x, s), dq(b, z[0], z[1])), y), y))
        elif kind == "join" and shape:
            others = [m for m in made if b.shape(m[0]) == shape]
            z = b.choice(*others)
            both = b.op(
                "Concat", dq(b, x, s), dq(b, z[0], z[1]), axis=b.axis(len(shape) - 1, len(shape))
            )
            made.append((q(b, both, y), y))
        elif kind == "move":
            made.append((q(b, move(b, dq(b, x, s)), s), s))
        elif kind == "mean" and shape:
            made.append((q(b, b.reduce("ReduceMean", dq(b, x, s), len(shape) - 1), y), y))
        else:
            b.op("Cast", x, to=TensorProto.INT32)
    if b.chance(0.3):
        dq(b, *made[-1])
