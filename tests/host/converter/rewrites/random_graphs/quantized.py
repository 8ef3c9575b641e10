"""Around what quantizers write: operators between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from .builder import Builder

BYTES = (np.int8, np.uint8)
WIDE = (np.int16, np.uint16)


class Scale:
    """What integers mean: a scale in which few sums lie in the middle of two, and a zero point."""

    def __init__(self, b: Builder, dtype, scale=None, zero=None):
        ends = np.iinfo(dtype)
        self.dtype = np.dtype(dtype)
        self.scale = np.float32(scale or b.choice(0.031007, 0.017003, 0.050021, 0.007919))
        kinds = (0, ends.min, ends.max, *b.integers(ends.min // 2, ends.max // 2, 3))
        kinds = [k for k in kinds if ends.min <= k <= ends.max]
        if ends.bits == 16:
            kinds = [0] if ends.min else [32768, 32768, 0]
            self.scale /= np.float32(64)
        self.zero = np.asarray(b.choice(*kinds) if zero is None else zero, dtype)

    def parameters(self, b: Builder):
        """As constants, the zero point maybe left out; seldom a scale that a run decides."""
        if b.chance(0.01):
            return [b.op("Abs", b.input([])), self.zero]
        own = b.choice((), (), (), (1,)) if b.opset >= 13 else ()
        zero = (
            None
            if self.zero == 0 and self.dtype == np.uint8 and b.chance(0.3)
            else self.zero.reshape(own)
        )
        return [np.asarray(self.scale).reshape(own), zero]


def q(b: Builder, x: str, s: Scale) -> str:
    return b.op("QuantizeLinear", x, *s.parameters(b))


def dq(b: Builder, x: str, s: Scale) -> str:
    return b.op("DequantizeLinear", x, *s.parameters(b))


def dtype_of(b: Builder):
    return b.choice(*BYTES)


def real(b: Builder, shape, s: Scale, before: bool = True) -> str:
    """Floats of quantized integers; from a float input, or a node between, now and then."""
    kind = (
        b.choice("integers", "integers", "integers", "floats", "moved") if before else "integers"
    )
    if kind == "floats":
        return dq(b, q(b, b.input(shape), s), s)
    if kind == "moved" and len(shape):
        perm = b.order(len(shape))
        x = b.input([shape[perm.index(a)] for a in range(len(shape))], s.dtype)
        if b.chance(0.5):
            return b.transpose(dq(b, x, s), perm)
        return dq(b, b.transpose(x, perm), s)
    return dq(b, b.input(shape, s.dtype), s)


def weights(b: Builder, shape, axis: int, scale: float = 0.01, dtype=None) -> str:
    """DequantizeLinear of constants, with one scale or one a channel; the channels' axis too."""
    dtype = dtype or b.choice(np.int8, np.int8, np.uint8)
    n = shape[axis]
    by_channel = b.opset >= 13 and b.chance(0.5)
    own = (n,) if by_channel else ()
    scales = (scale * b.rng.uniform(0.5, 1.5, own)).astype(np.float32)
    middle = 128 if dtype == np.uint8 else 0
    zeros = np.full(own, middle + b.choice(0, 0, 0, 5), dtype)
    if by_channel and b.chance(0.1):
        zeros = (zeros + b.rng.integers(0, 4, own)).astype(dtype)
    low = 0 if dtype == np.uint8 else -127
    values = b.rng.integers(low, low + 254, shape, endpoint=True).astype(dtype)
    given = {"axis": b.axis(axis, len(shape))} if by_channel else {}
    if b.chance(0.1):
        floats = (values.astype(np.float32) - middle) * scale
        y = b.op("QuantizeLinear", floats, scales, zeros, **given)
        return b.op("DequantizeLinear", y, scales, zeros, **given)
    return b.op("DequantizeLinear", values, scales, zeros, **given)


def bias(b: Builder, shape, size: float = 1.0):
    """Integers in the products' scale are what a quantizer writes; floats as others do."""
    return b.randn(*shape, scale=size)


def integer_bias(b: Builder, n: int, x: Scale, w: str):
    """DequantizeLinear of int32 with the scale of the products."""
    maker = next(node for node in b.nodes if w in node.output)
    scale = numpy_helper.to_array(b.constants[maker.input[1]]) * x.scale
    values = b.rng.integers(-2000, 2000, n).astype(np.int32)
    given = {"axis": 0} if b.opset >= 13 and scale.ndim else {}
    zeros = np.zeros(scale.shape, np.int32)
    return b.op("DequantizeLinear", values, scale, zeros, **given)


def _ending(b: Builder, y: str, s: Scale, share: float = 0.85) -> None:
    """Maybe an activation, then integers; maybe floats or views of them behind."""
    if b.chance(0.25):
        y = (
            b.op("Relu", y)
            if b.chance(0.5)
            else b.op("Clip", y, np.float32(0), np.float32(b.choice(1, 6)))
        )
    if not b.chance(share):
        b.op("Identity", y)
        return
    y = q(b, y, s)
    if b.chance(0.3):
        y = dq(b, y, s)
        kind = b.choice("float", "reshape", "transpose", "slice")
        rank = len(b.shape(y))
        if kind == "reshape":
            y = b.reshape(y, *b.regrouped(b.shape(y)))
        elif kind == "transpose" and rank:
            y = b.transpose(y, b.order(rank))
        elif kind == "slice" and rank:
            y = b.slice(y, rank - 1, 0, max(1, b.shape(y)[-1] - 1))
        if kind != "float" and b.chance(0.8):
            y = q(b, y, s)


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
    given = {"strides": b.integers(1, 2, spatial)} if b.chance(0.3) else {}
    if b.chance(0.5):
        given["pads"] = b.integers(0, 1, 2 * spatial)
    elif b.chance(0.2):
        given["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER")
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
    y = b.op("Conv", *inputs, group=group, **given)
    if added is not None:
        y = b.op("Add", y, added)
    _ending(b, y, Scale(b, dtype, _product_scale(b, c * np.prod(kernel) * 40) * 0.3))


def transposed(b: Builder) -> None:
    dtype, spatial = dtype_of(b), b.choice(1, 2, 2)
    c, m = b.integer(1, 4), b.integer(1, 3)
    group = b.choice(1, 1, c)
    s = Scale(b, dtype)
    x = real(b, [1, c, *b.integers(2, 5, spatial)], s)
    w = weights(b, [c, m, *b.integers(1, 3, spatial)], b.choice(1, 1, 1, 0))
    given = {"strides": b.integers(1, 2, spatial)} if b.chance(0.5) else {}
    inputs = [x, w]
    if b.chance(0.5):
        inputs.append(bias(b, [m * group]))
    y = b.op("ConvTranspose", *inputs, group=group, **given)
    if b.chance(0.3):
        y = b.op(
            "Add",
            y,
            bias(b, b.choice([m * group, *[1] * spatial], [], [1, m * group, *[1] * spatial])),
        )
    _ending(b, y, Scale(b, dtype, 0.05), 0.95)


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
        given = {"alpha": b.choice(0.5, -0.5)} if b.chance(0.15) else {}
        given |= {"beta": 2.0} if b.chance(0.15) else {}
        y = b.op("Gemm", *inputs, transA=trans_a, transB=trans_b, **given)
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
    _ending(b, y, size)


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
        _ending(b, out, Scale(b, dtype, 1 / 256, np.iinfo(dtype).min), 0.95)
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
    _ending(b, b.op(op, *pair), y)


def normalized(b: Builder) -> None:
    """Layer normalization; over all axes from one on where its scale and bias are."""
    dtype = dtype_of(b)
    x = real(b, shape := [*b.dims(0, 3, 4), b.integer(2, 9)], Scale(b, dtype))
    axis = b.choice(len(shape) - 1, len(shape) - 1, b.integer(0, len(shape) - 1))
    own = b.choice(shape[axis:], shape[axis:], shape[-1:], [1])
    scale, bias = b.rng.normal(1, 0.3, own), b.rng.normal(0, 0.3, own)
    scale = b.choice(scale.astype(np.float32), weights(b, own, len(own) - 1))
    inputs = [x, scale] + ([bias.astype(np.float32)] if b.chance(0.8) else [])
    out = b.op("LayerNormalization", *inputs, axis=b.axis(axis, len(shape)))
    y = Scale(b, b.choice(*[dtype] * 8, *BYTES), b.choice(0.0199, 0.0101))
    _ending(b, out, y, 0.95)


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
        given = {}
        if kind == "AveragePool":
            kernel = [b.integer(1, min(3, n)) for n in b.shape(x)[2:]]
            given = {"kernel_shape": kernel}
            if b.chance(0.5):
                given["strides"] = b.integers(1, 3, spatial)
            if b.chance(0.4):
                given["pads"] = [b.integer(0, k // 2) for k in kernel * 2]
            elif b.chance(0.2):
                given["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER")
            if b.chance(0.3):
                given["count_include_pad"] = 1
            if b.chance(0.2):
                given["ceil_mode"] = 1
            if b.chance(0.1) and b.opset >= 19:
                given["dilations"] = [1] * spatial
        out = b.op(kind, x, **given)
    _ending(b, out, y, 0.95)


def resized(b: Builder) -> None:
    dtype = dtype_of(b)
    s = Scale(b, dtype)
    h, w = b.integers(2, 4, 2)
    x = real(b, [1, b.integer(1, 2), h, w], s)
    mode = b.choice("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    kind = b.choice("linear", "linear", "linear", "linear", "nearest", "cubic")
    roi = None if b.opset >= 13 else np.zeros(0, np.float32)
    if b.chance(0.5):
        given = [roi, np.float32([1, 1, b.choice(2, 1.5, 1, 3), b.choice(2, 2.5, 0.5)])]
    else:
        scales = None if b.opset >= 13 else np.zeros(0, np.float32)
        given = [roi, scales, np.int64([1, b.shape(x)[1], b.integer(2, 7), b.integer(2, 7)])]
    y = b.op("Resize", x, *given, mode=kind, coordinate_transformation_mode=mode)
    _ending(b, y, b.choice(s, Scale(b, dtype, 0.02)), 0.95)


def dynamic(b: Builder) -> None:
    """As dynamic quantization writes a product, with the scale and offset behind it."""
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


def _move(b: Builder, x: str) -> str:
    """A node that moves elements, or chooses among them."""
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
    """Nodes that move elements between DQ and Q, of one scale or several, for one or two."""
    dtype = dtype_of(b)
    s = Scale(b, dtype)
    x = real(b, b.dims(1, 4, 4), s)
    for _ in range(b.integer(1, 3)):
        x = _move(b, x)
        if b.chance(0.2):
            x = b.op(b.choice("Relu", "Tanh", "Neg"), x)
        if b.chance(0.2):
            b.op(b.choice("Neg", "Sigmoid"), x)
    if b.chance(0.15) and b.shape(x):
        b.op(b.choice("ArgMax", "ArgMin"), x, axis=0, keepdims=b.choice(0, 1))
    if b.chance(0.85):
        q(b, x, s if b.chance(0.7) else Scale(b, dtype_of(b)))


def joined(b: Builder) -> None:
    """Concat, Max or Min of tensors of one scale or of several, and moves around."""
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
        y = _move(b, y)
    if b.chance(0.85):
        q(b, y, s if b.chance(0.7) else Scale(b, dtype_of(b)))
    if b.chance(0.2):
        b.op("Neg", y)


def hoisted(b: Builder) -> None:
    """What computes floats, then moves or limits, then Q."""
    s = Scale(b, dtype_of(b))
    x = b.op("Sin", b.input(b.dims(1, 4, 4)))
    if b.chance(0.3):
        x = b.op("Concat", x, b.op("Cos", b.input(b.shape(x))), axis=0)
    for _ in range(b.integer(1, 3)):
        kind = b.choice("move", "move", "relu", "clip")
        if kind == "move":
            x = _move(b, x)
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
    """Functions of one tensor of bytes, in a chain or joined by operators of two."""
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
    """Weights that are floats in the file, of few bits, by block or by axis; scalars."""
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


def wide(b: Builder) -> None:
    """16 bits: the same generators, and what has an own operator there."""
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
    """Products of rows one after another, with moves, sums and joins between: what flips bytes."""
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
            made.append((q(b, _move(b, dq(b, x, s)), s), s))
        elif kind == "mean" and shape:
            made.append((q(b, b.reduce("ReduceMean", dq(b, x, s), len(shape) - 1), y), y))
        else:
            b.op("Cast", x, to=TensorProto.INT32)
    if b.chance(0.3):
        dq(b, *made[-1])
