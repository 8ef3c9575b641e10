"""Parts of random models: each function adds one node, or none if none fits."""

from __future__ import annotations

import numpy as np

from .random_models import Builder


def _divisor(b, n):
    return b.choice(*(d for d in range(1, n + 1) if n % d == 0))


def _kernel(b, most=(3, 3)):
    """Return a kernel no larger than the plane, and attributes with strides."""
    kernel = [min(k, n) for k, n in zip(b.integers(1, 3, 2), most, strict=True)]
    return kernel, {"strides": b.integers(1, 2, 2)}


def conv(b: Builder) -> None:
    x, (_, c, *plane) = b.pick(4)
    kernel, attrs = _kernel(b, plane)
    if b.chance(0.2):
        attrs["auto_pad"] = b.choice("SAME_UPPER", "SAME_LOWER")
    else:
        most = [2 if 2 * k <= n else 1 for k, n in zip(kernel, plane, strict=True)]
        attrs |= {"pads": b.integers(0, 1, 4), "dilations": [b.choice(1, 1, d) for d in most]}
    group = b.choice(1, c, _divisor(b, c))
    m = group * int(b.rng.integers(1, 2 + 8 // group))
    bias = [b.normal(m)] if b.chance(0.6) else []
    b.add("Conv", x, b.normal(m, c // group, *kernel), *bias, group=group, **attrs)


def conv_transpose(b: Builder) -> None:
    x, (_, c, _, _) = b.pick(4)
    kernel, attrs = _kernel(b)
    group, m = _divisor(b, c), int(b.rng.integers(1, 4))
    attrs["output_padding"] = [b.integers(0, s - 1, 1)[0] for s in attrs["strides"]]
    attrs["pads"] = [int(b.rng.integers(0, min(2, k))) for k in kernel * 2]
    bias = [b.normal(m * group)] if b.chance(0.5) else []
    b.add("ConvTranspose", x, b.normal(c, m, *kernel), *bias, group=group, **attrs)


def pool(b: Builder) -> None:
    x, (_, _, *plane) = b.pick(4)
    kernel, attrs = _kernel(b, plane)
    attrs["pads"] = [int(b.rng.integers(0, min(2, k))) for k in kernel * 2]
    attrs["kernel_shape"] = kernel
    if b.chance(0.5):
        b.add("MaxPool", x, **attrs)
    else:
        b.add("AveragePool", x, count_include_pad=int(b.chance(0.5)), **attrs)


def global_pool(b: Builder) -> None:
    b.add(b.choice("GlobalAveragePool", "GlobalMaxPool"), b.pick(4)[0])


def batch_norm(b: Builder) -> None:
    x, shape = b.pick(b.choice(2, 3, 4))
    c = shape[1]
    variance = b.constant(b.rng.uniform(0.1, 1, c), np.float32)
    b.add("BatchNormalization", x, *(b.normal(c) for _ in range(3)), variance)


def activation(b: Builder) -> None:
    op = b.choice("Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Clip", "Elu")
    limits = sorted(b.rng.standard_normal(2)) if op == "Clip" else []
    b.add(op, b.pick()[0], *(b.constant(v, np.float32) for v in limits))


def function(b: Builder) -> None:
    b.add(b.choice("Abs", "Neg", "Erf", "Softplus", "Softsign", "Selu", "Identity"), b.pick()[0])


def arithmetic(b: Builder) -> None:
    x, shape = b.pick()
    if b.chance(0.5):
        other = b.like(shape)
    else:
        some = [d if b.chance(0.6) else 1 for d in shape]
        other = b.normal(*some[b.choice(0, 0, 1) :])
    pair = [x, other] if b.chance(0.7) else [other, x]
    b.add(b.choice("Add", "Mul", "Sub", "Min", "Max"), *pair)


def concat(b: Builder) -> None:
    x, shape = b.pick()
    axis = int(b.rng.integers(-len(shape), len(shape)))
    b.add("Concat", x, *(b.like(shape) for _ in range(b.choice(1, 2))), axis=axis)


def slice_(b: Builder) -> None:
    x, shape = b.pick()
    axis = int(b.rng.integers(len(shape)))
    first = int(b.rng.integers(shape[axis]))
    if b.chance(0.2):
        last, step = -shape[axis] - 1, -1
    else:
        last, step = b.choice(2**31, first + 1 + int(b.rng.integers(4))), b.choice(1, 1, 2)
    b.add("Slice", x, *(b.shape_input(v) for v in (first, last, axis, step)))


def pad(b: Builder) -> None:
    x, shape = b.pick()
    widths = [int(b.rng.integers(0, min(3, d))) for d in shape * 2]
    b.add("Pad", x, b.shape_input(*widths), mode=b.choice("constant", "reflect", "edge"))


def transpose(b: Builder) -> None:
    x, shape = b.pick()
    b.add("Transpose", x, perm=[int(i) for i in b.rng.permutation(len(shape))])


def reshape(b: Builder) -> None:
    x, shape = b.pick()
    rest, dims = int(np.prod(shape)), []
    for _ in range(int(b.rng.integers(0, 4))):
        dims.append(_divisor(b, rest))
        rest //= dims[-1]
    dims.append(b.choice(rest, -1))
    b.add("Reshape", x, b.shape_input(*dims))


def squeeze(b: Builder) -> None:
    x, shape = b.pick()
    ones = [i for i, d in enumerate(shape) if d == 1]
    if ones and b.chance(0.6):
        b.add("Squeeze", x, b.shape_input(ones[0]))
    elif len(shape) < 5:
        b.add("Unsqueeze", x, b.shape_input(int(b.rng.integers(0, len(shape) + 1))))


def gather(b: Builder) -> None:
    x, shape = b.pick()
    axis = int(b.rng.integers(len(shape)))
    n = shape[axis]
    indices = b.rng.integers(-n, n, b.choice((), 1, 3))
    b.add("Gather", x, b.constant(indices, np.int64), axis=axis)


def split(b: Builder) -> None:
    x, shape = b.pick()
    axis = int(b.rng.integers(len(shape)))
    n = int(b.rng.integers(1, max(shape[axis], 2)))
    b.add("Split", x, b.shape_input(n, shape[axis] - n), n_outputs=2, axis=axis)


def gemm(b: Builder) -> None:
    x, (m, k) = b.pick(2)
    trans_a, trans_b = int(b.chance(0.3)), int(b.chance(0.5))
    m, k = (k, m) if trans_a else (m, k)
    n = b.choice(1, 3, 8, 13, m)
    w = b.normal(n, k) if trans_b else b.normal(k, n)
    c = b.choice([], [b.normal(n)], [b.normal(m, 1)], [b.normal(m, n)], [b.normal()])
    scaled = {"alpha": 0.7, "beta": 1.3} if b.chance(0.3) else {}
    b.add("Gemm", x, w, *c, transA=trans_a, transB=trans_b, **scaled)


def matmul(b: Builder) -> None:
    x, shape = b.pick()
    b.add("MatMul", x, b.normal(shape[-1], int(b.rng.integers(1, 10))))


def matmul_of_two(b: Builder) -> None:
    x, shape = b.pick(b.choice(2, 3))
    fits = [k for k, s in b.shapes.items() if s[:-2] == shape[:-2] and s[-2:-1] == shape[-1:]]
    if fits:
        b.add("MatMul", x, b.choice(*fits))


def reduce(b: Builder) -> None:
    x, shape = b.pick()
    axis, keep = int(b.rng.integers(-len(shape), len(shape))), int(b.chance(0.5))
    op = b.choice("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2")
    if op == "ReduceSum" or b.opset >= 18:
        b.add(op, x, b.shape_input(axis), keepdims=keep)
    else:
        b.add(op, x, axes=[axis], keepdims=keep)


def softmax(b: Builder) -> None:
    x, shape = b.pick()
    axis = int(b.rng.integers(-len(shape), len(shape)))
    if shape[axis] > 1:
        b.add("Softmax", x, axis=axis)


def resize(b: Builder) -> None:
    x, _ = b.pick(4)
    scales = b.constant([1, 1, *b.integers(1, 3, 2)], np.float32)
    where = b.choice("asymmetric", "half_pixel", "align_corners")
    mode = b.choice("nearest", "linear")
    b.add("Resize", x, "", scales, mode=mode, coordinate_transformation_mode=where)


def depth(b: Builder) -> None:
    x, (_, c, h, w) = b.pick(4)
    if c % 4 == 0:
        b.add("DepthToSpace", x, blocksize=2, mode=b.choice("DCR", "CRD"))
    elif h % 2 == w % 2 == 0:
        b.add("SpaceToDepth", x, blocksize=2)


def norm(b: Builder) -> None:
    x, shape = b.pick(b.choice(3, 4))
    if shape[-1] > 3 and b.opset >= 17:
        b.add("LayerNormalization", x, *(b.normal(shape[-1]) for _ in range(2)), epsilon=1e-3)
    elif np.prod(shape[2:]) > 3:
        b.add("InstanceNormalization", x, *(b.normal(shape[1]) for _ in range(2)), epsilon=1e-3)


def recurrent(b: Builder) -> None:
    x, (steps, _, n) = b.pick(3)
    op, gates = b.choice(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    direction = b.choice("forward", "reverse", "bidirectional")
    d, hidden = 1 + (direction == "bidirectional"), int(b.rng.integers(1, 6))
    weights = [b.normal(d, gates * hidden, k, scale=0.5) for k in (n, hidden)]
    if steps < 12:
        b.add(op, x, *weights, n_outputs=2, hidden_size=hidden, direction=direction)


MOVES = [concat, slice_, pad, transpose, reshape, squeeze, gather, split, depth]
LAYERS = [conv, conv, conv, conv_transpose, pool, gemm, matmul, activation, arithmetic]
FLOATS = [
    *LAYERS,
    *MOVES,
    *[global_pool, batch_norm, function, matmul_of_two, reduce, softmax, resize, norm, recurrent],
]
QUANTIZED = [*LAYERS, conv, conv, activation, *MOVES, global_pool, reduce, softmax, resize]
