"""Random nodes of operators whose attributes or small inputs decide a shape, at any opset.

    @forms("Flatten")
    def flatten(draw, op, opset): ...  # a Node

A form stays within what ONNX's text and onnxruntime agree on; see misjudged.py for the rest.
"""

from __future__ import annotations

import numpy as np
from onnx import defs

from tests.host.ops.against_ort import Node

FORMS = {}


def forms(*operators):
    """Register a function that makes nodes of these operators."""

    def declare(make):
        FORMS.update(dict.fromkeys(operators, make))
        return make

    return declare


def form(draw, op: str, opset: int) -> Node:
    """Return a random node of this operator."""
    return FORMS[op](draw, op, opset)


def has(op, opset, name):
    return name in defs.get_schema(op, opset, "").attributes


def sizes(draw, n, low=1, high=4):
    return [draw.size(low, high) for _ in range(n)]


def one_of(draw, *choices):
    return choices[draw.size(0, len(choices) - 1)]


def axis_in(draw, rank, opset, since=11):
    axis = draw.size(0, rank - 1)
    return axis - rank if opset >= since and draw.chance() else axis


def some_axes(draw, rank, opset, least=1):
    axes = [int(a) for a in draw.rng.permutation(rank)[: draw.size(least, rank)]]
    return [a - rank if opset >= 11 and draw.chance(0.4) else a for a in axes]


def by_list(x, op, opset, since, name, values, attrs=None):
    """Return a node with a list of integers: an attribute before an opset, then an input.

    Args:
        x: the first input.
        op: the operator.
        opset: opset of the node.
        since: first opset in which the list is an input.
        name: name of the attribute.
        values: the integers.
        attrs: further attributes.
    """
    attrs = attrs or {}
    if opset < since:
        return Node(op, [x], attrs | {name: values}, opset)
    return Node(op, [x, np.array(values, np.int64)], attrs, opset, (1,))


def windows(draw, op, opset, kernel):
    """Draw attributes of windows that fit into an input without pads."""
    n, attrs = len(kernel), {}
    if draw.chance(0.7):
        attrs["strides"] = sizes(draw, n)
    if has(op, opset, "dilations") and draw.chance(0.4):
        attrs["dilations"] = sizes(draw, n, 1, 2)
    auto = one_of(draw, None, None, "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    if auto:
        attrs["auto_pad"] = auto
    if auto in (None, "NOTSET") and draw.chance(0.7):
        attrs["pads"] = [draw.size(0, k - 1) for k in kernel * 2]
    if has(op, opset, "ceil_mode") and draw.chance():
        attrs["ceil_mode"] = 1
    return attrs


@forms("AveragePool", "LpPool", "MaxPool")
def pool(draw, op, opset):
    kernel = sizes(draw, draw.size(1, 3), 1, 3)
    attrs = windows(draw, op, opset, kernel) | {"kernel_shape": kernel}
    x = draw.floats((draw.size(1, 2), draw.size(1, 2), *sizes(draw, len(kernel), 5, 9)))
    return Node(op, [x], attrs, opset)


@forms("Conv", "ConvTranspose")
def conv(draw, op, opset):
    kernel, channels, group = sizes(draw, draw.size(1, 3), 1, 3), draw.size(1, 2), draw.size(1, 2)
    attrs = windows(draw, op, opset, kernel) | {"group": group}
    x = draw.floats((1, group * channels, *sizes(draw, len(kernel), 5, 7)))
    w = draw.floats((group * channels, channels, *kernel))
    if op == "ConvTranspose":
        strides = attrs.get("strides", [1] * len(kernel))
        if draw.chance():
            attrs["output_padding"] = [draw.size(0, s - 1) for s in strides]
        if draw.chance(0.2):
            attrs.pop("pads", None)
            pairs = zip(x.shape[2:], strides, strict=True)
            attrs["output_shape"] = [d * s + draw.size(0, 1) for d, s in pairs]
    return Node(op, [x, w], attrs, opset, (1,))


@forms("STFT")
def stft(draw, op, opset):
    n, attrs = draw.size(2, 8), one_of(draw, {}, {"onesided": 0}, {"onesided": 1})
    x, step = draw.floats((draw.size(1, 2), draw.size(8, 30), 1)), np.array(draw.size(1, 6))
    window = draw.floats((n,)) if draw.chance() else None
    length = np.array(n) if window is None or draw.chance() else None
    inputs = [x, step, window, *([] if length is None else [length])]
    fixed = tuple(i for i, v in enumerate(inputs) if i and v is not None)
    return Node(op, inputs, attrs, opset, fixed)


@forms("DFT")
def dft(draw, op, opset):
    shape, attrs = draw.shape(2, 4, 5), {}
    rank, axis = len(shape) + 1, draw.size(0, len(shape) - 1)
    real = draw.chance()
    if real and draw.chance():
        attrs["onesided"] = 1
    inputs = [draw.floats((*shape, 1 if real else 2))]
    length = np.array(draw.size(1, 8)) if draw.chance() else None
    axis = axis - rank if draw.chance() else axis
    if opset < 20:
        return Node(op, inputs + [length] * (length is not None), attrs | {"axis": axis}, opset,
                    (1,) * (length is not None))  # fmt: skip
    fixed = (2,) if length is None else (1, 2)
    return Node(op, [*inputs, length, np.array(axis)], attrs, opset, fixed)


@forms("Einsum")
def einsum(draw, op, opset):
    size = dict(zip("ijkl", sizes(draw, 4, 1, 3), strict=True))
    batch, terms, inputs = draw.shape(0, 2, 3), [], []
    for _ in range(draw.size(1, 3)):
        term = "".join(one_of(draw, *size) for _ in range(draw.size(0, 3)))
        shape = [size[c] for c in term]
        if draw.chance(0.6):
            at = draw.size(0, len(term))
            dots = [d if draw.chance(0.7) else 1 for d in batch[draw.size(0, len(batch)) :]]
            term, shape = f"{term[:at]}...{term[at:]}", shape[:at] + dots + shape[at:]
        terms.append(term)
        inputs.append(draw.floats(shape))
    equation = ",".join(terms)
    if draw.chance(0.7):
        kept = [c for c in sorted({*equation} & {*size}) if draw.chance(0.6)]
        equation += "->" + "..." * ("..." in equation) + "".join(kept)
    return Node(op, inputs, {"equation": equation}, opset)


@forms("Squeeze")
def squeeze(draw, op, opset):
    shape = [one_of(draw, 1, 1, 2, 3) for _ in range(draw.size(1, 4))]
    shape[0] = 1
    axes = [int(a) for a in draw.rng.permutation([i for i, d in enumerate(shape) if d == 1])]
    if opset >= 11:
        axes = [a - len(shape) if draw.chance(0.4) else a for a in axes]
    if draw.chance(0.2):
        return Node(op, [draw.floats(shape)], {}, opset)
    return by_list(draw.floats(shape), op, opset, 13, "axes", axes[: draw.size(1, len(axes))])


@forms("Unsqueeze")
def unsqueeze(draw, op, opset):
    shape, n = draw.shape(0, 3, 3), draw.size(1, 3)
    axes = some_axes(draw, len(shape) + n, opset, len(shape) + n)[:n]
    return by_list(draw.floats(shape), op, opset, 13, "axes", axes)


@forms("Reshape")
def reshape(draw, op, opset):
    shape = [draw.size(0, 3) if draw.chance(0.3) else draw.size(1, 4) for _ in range(3)]
    expected = shape if draw.chance(0.6) else [shape[0] * shape[1], shape[2]]
    expected = [0 if draw.chance(0.3) else d for d in expected]
    if 0 not in shape and draw.chance(0.4):
        expected[draw.size(0, len(expected) - 1)] = -1
    attrs = {"allowzero": 1} if opset >= 14 and draw.chance(0.3) else {}
    return by_list(draw.floats(shape), op, opset, 5, "shape", expected, attrs)


@forms("Flatten")
def flatten(draw, op, opset):
    shape = sizes(draw, draw.size(1, 4), 0, 3)
    low = -len(shape) if opset >= 11 else 0
    attrs = {"axis": draw.size(low, len(shape))} if draw.chance(0.8) else {}
    return Node(op, [draw.floats(shape)], attrs, opset)


@forms("Slice")
def slice_(draw, op, opset):
    """Return a Slice.

    A backward Slice has no end at the largest integers: onnxruntime reads it otherwise.
    """
    x = draw.floats(draw.shape(1, 4, 5))
    far = (2**31, -(2**31), 2**62, -(2**62))
    axes = some_axes(draw, x.ndim, opset)
    starts, ends = ([one_of(draw, *range(-7, 8), *far) for _ in axes] for _ in range(2))
    if opset < 10:
        return Node(op, [x], {"starts": starts, "ends": ends, "axes": axes}, opset)
    steps = [one_of(draw, 1, 1, -1, 2, -2, *far) for _ in axes]
    lists = [np.array(values) for values in (starts, ends, axes, steps)][: one_of(draw, 3, 4)]
    return Node(op, [x, *lists], {}, opset, (1, 2, 3, 4)[: len(lists)])


@forms("Split")
def split(draw, op, opset):
    shape = list(draw.shape(1, 3, 7))
    axis, n = axis_in(draw, len(shape), opset), draw.size(1, 3)
    attrs, x = {"axis": axis}, draw.floats(shape)
    dtypes = (np.float32,) * n
    if draw.chance():
        attrs |= {"num_outputs": n} if opset >= 18 else {}
        return Node(op, [x], attrs, opset, (), dtypes)
    ends = sorted(draw.size(0, shape[axis]) for _ in range(n - 1))
    parts = np.diff([0, *ends, shape[axis]]).tolist()
    node = by_list(x, op, opset, 13, "split", parts, attrs)
    node.dtypes = dtypes
    return node


@forms("Pad")
def pad(draw, op, opset):
    x = draw.floats(draw.shape(1, 4, 5))
    pads = sizes(draw, x.ndim * 2, 0, 3)
    if min(x.shape) > 2 and draw.chance(0.4):
        pads = sizes(draw, x.ndim * 2, -1, 2)
    if opset >= 18 and draw.chance(0.4):
        axes = some_axes(draw, x.ndim, opset)
        lists = [np.array(pads[: 2 * len(axes)]), None, np.array(axes)]
        return Node(op, [x, *lists], {}, opset, (1, 3))
    return by_list(x, op, opset, 11, "pads", pads)


@forms("Resize")
def resize(draw, op, opset):
    rank = draw.size(2, 4)
    x = draw.floats(sizes(draw, rank, 1, 6))
    scales = [one_of(draw, 0.5, 1, 2, 1.5, 1 / 3, 0.7, 1.1, draw.rng.uniform(1, 3))
              for _ in range(rank)]  # fmt: skip
    attrs, scales = {"mode": "nearest"}, np.array(scales, np.float32)
    if opset < 11:
        return Node(op, [x, scales], attrs, opset, (1,))
    roi = None if opset >= 13 else np.zeros(0, np.float32)
    first = (1,) if opset < 13 else ()
    axes = list(range(rank))
    if opset >= 18 and draw.chance(0.4):
        axes = [int(a) for a in draw.rng.permutation(rank)[: draw.size(1, rank)]]
        attrs["axes"] = axes
    if draw.chance():
        return Node(op, [x, roi, scales[axes]], attrs, opset, (*first, 2))
    if opset >= 18 and draw.chance():
        attrs["keep_aspect_ratio_policy"] = one_of(draw, "stretch", "not_larger", "not_smaller")
    more = (2,) if opset < 13 else ()
    inputs = [x, roi, roi, np.array(sizes(draw, len(axes), 3, 9))]
    return Node(op, inputs, attrs, opset, (*first, *more, 3))


@forms("Gather")
def gather(draw, op, opset):
    x = draw.floats(draw.shape(1, 4, 3))
    index = np.zeros(sizes(draw, draw.size(0, 3), 0, 3), np.int64)
    return Node(op, [x, index], {"axis": axis_in(draw, x.ndim, opset)}, opset)


@forms("Concat")
def concat(draw, op, opset):
    shape = sizes(draw, draw.size(1, 4), 0, 3)
    axis, inputs = axis_in(draw, len(shape), opset), []
    for _ in range(draw.size(1, 4)):
        shape[axis] = draw.size(0, 3)
        inputs.append(draw.floats(shape))
    return Node(op, inputs, {"axis": axis}, opset)


@forms("ReduceMax", "ReduceMean", "ReduceSum")
def reduce(draw, op, opset):
    x = draw.floats(draw.shape(1, 4, 3))
    attrs, axes = {"keepdims": draw.size(0, 1)}, some_axes(draw, x.ndim, opset, 0)
    if has(op, opset, "axes"):
        return Node(op, [x], attrs | ({"axes": axes} if axes else {}), opset)
    if draw.chance():
        attrs["noop_with_empty_axes"] = draw.size(0, 1)
    return Node(op, [x, np.array(axes, np.int64)], attrs, opset, (1,))


@forms("MatMul")
def matmul(draw, op, opset):
    k, batch = draw.size(1, 3), draw.shape(0, 2, 2)
    sides = []
    for matrix in ([draw.size(1, 3), k], [k, draw.size(1, 3)]):
        outer = [d if draw.chance(0.7) else 1 for d in batch[draw.size(0, len(batch)) :]]
        sides.append(draw.floats([*outer, *matrix] if draw.chance(0.7) else [k]))
    return Node(op, sides, {}, opset)


@forms("OneHot")
def one_hot(draw, op, opset):
    index = draw.ints(draw.shape(1, 3, 3), np.int64, 0, 3)
    attrs = {"axis": draw.size(-index.ndim - 1, index.ndim)} if draw.chance(0.7) else {}
    depth = one_of(draw, np.array(4), np.array([4]), np.array([4.7], np.float32))
    return Node(op, [index, depth, np.array([2, 5], np.float32)], attrs, opset, (1,))
