"""Models of operators that move elements, and of operators that return shapes."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from .making import Spec, makes
from .reductions import axis_of


def anything(draw, v, shape, i: int = 0) -> np.ndarray:
    """Draw small numbers.

    Args:
        draw: draws numbers.
        v: the version, which allows some dtypes for input i.
        shape: shape of the array.
        i: index of the input.
    """
    return draw.ints(shape, np.int64, 0, 100).astype(v.dtype(draw, i))


@makes("Concat")
def concat(draw, v):
    """Draw one to four tensors that differ only along the axis."""
    shape = draw.shape(1, 4, 4)
    axis, dtype = axis_of(draw, v, len(shape)), v.dtype(draw)
    at = axis % len(shape)
    parts = []
    for _ in range(draw.size(1, 4)):
        dims = (*shape[:at], draw.size(1, 4), *shape[at + 1 :])
        parts.append(draw.ints(dims, np.int64, 0, 99).astype(dtype))
    return Spec(parts, {"axis": axis})


@makes("Flatten")
def flatten(draw, v):
    """Vary the axis from 0 to the rank; negative ones since opset 11."""
    shape = draw.shape(1, 5, 4)
    axis = draw.size(-len(shape) if v.since >= 11 else 0, len(shape))
    return Spec([anything(draw, v, shape)], {"axis": axis} if draw.chance(0.8) else {})


@makes("Gather")
def gather(draw, v):
    """Draw indices, which may be negative since opset 11."""
    shape = draw.shape(1, 4, 4)
    axis = axis_of(draw, v, len(shape))
    n = shape[axis]
    low = -n if v.since >= 11 else 0
    dtype = np.int32 if draw.chance() else np.int64
    index = draw.ints(draw.shape(0, 3, 3), dtype, low, n - 1)
    return Spec([anything(draw, v, shape), index], {"axis": axis} if axis or draw.chance() else {})


@makes("GatherElements", "Scatter", "ScatterElements")
def elements(draw, v):
    """Draw indices without repetition; `reduction` exists since opset 16."""
    shape = draw.shape(1, 4, 4)
    axis = axis_of(draw, v, len(shape))
    at, n = axis % len(shape), shape[axis]
    x = anything(draw, v, shape)
    attributes = {"axis": axis} if at or draw.chance() else {}
    dims = tuple(draw.size(1, d) for d in shape)
    rows = np.stack(
        [draw.rng.permutation(n)[: dims[at]] for _ in range(int(np.prod(dims)) // dims[at])]
    )
    others = [d for i, d in enumerate(dims) if i != at]
    index = np.moveaxis(rows.reshape([*others, dims[at]]), -1, at)
    if v.since >= 11 and draw.chance():
        index = np.where(draw.rng.random(index.shape) < 0.5, index - n, index)
    if v.operator == "GatherElements":
        return Spec([x, index.astype(np.int64)], attributes)
    updates = draw.ints(dims, np.int64, 0, 9).astype(x.dtype)
    _add_reduction(draw, v, attributes)
    return Spec([x, np.ascontiguousarray(index, np.int64), updates], attributes)


def _add_reduction(draw, v, attributes):
    names = {16: ["none", "add", "mul"], 18: ["none", "add", "mul", "max", "min"]}.get(v.since)
    if names and draw.chance(0.7):
        attributes["reduction"] = names[draw.size(0, len(names) - 1)]


@makes("GatherND", "ScatterND")
def gather_nd(draw, v):
    """Draw index tuples; `batch_dims` exists since opset 12, `reduction` since 16."""
    shape = draw.shape(1, 4, 4)
    x = anything(draw, v, shape)
    batch = 0
    if v.operator == "GatherND" and v.has("batch_dims") and len(shape) > 1 and draw.chance():
        batch = draw.size(0, len(shape) - 2)
    depth = draw.size(1, len(shape) - batch)
    if v.operator == "GatherND":
        outer = (*shape[:batch], *draw.shape(0, 2, 3))
        outer = outer if len(outer) > batch else (*outer, 2)
        parts = [draw.ints(outer, np.int64, -d, d - 1) for d in shape[batch : batch + depth]]
        return Spec([x, np.stack(parts, -1)], {"batch_dims": batch} if batch else {})
    cells = np.stack(
        np.unravel_index(
            draw.rng.permutation(int(np.prod(shape[:depth])))[: draw.size(1, 4)], shape[:depth]
        ),
        -1,
    )
    updates = draw.ints((len(cells), *shape[depth:]), np.int64, 0, 9).astype(x.dtype)
    attributes = {}
    _add_reduction(draw, v, attributes)
    return Spec([x, cells.astype(np.int64), updates], attributes)


@makes("Reshape")
def reshape(draw, v):
    """Draw zeros, which copy a dim unless allowzero is set, and a dim of -1."""
    shape = draw.shape(1, 4, 4)
    x, n = anything(draw, v, shape), int(np.prod(shape))
    if draw.chance(0.3):
        dims = [0 if draw.chance() else d for d in shape]
    else:
        first = [d for d in range(1, n + 1) if n % d == 0]
        first = first[draw.size(0, len(first) - 1)]
        dims = [first, n // first]
        if draw.chance():
            dims[draw.size(0, 1)] = -1
    attributes = {}
    if v.has("allowzero") and draw.chance(0.4):
        attributes["allowzero"] = int(0 not in dims and draw.chance())
    return Spec([x, np.array(dims)], attributes, [1])


@makes("Squeeze", "Unsqueeze")
def squeeze(draw, v):
    """Draw a node of Squeeze or Unsqueeze.

    Its axes are an attribute before opset 13 and an input from 13 on. Squeeze may have no axes.
    From opset 11 on, some axes are negative.
    """
    rank = draw.size(1, 4)
    shape = [1 if draw.chance() else draw.size(2, 4) for _ in range(rank)]
    if v.operator == "Squeeze":
        shape[draw.size(0, rank - 1)] = 1
        ones = [i for i, d in enumerate(shape) if d == 1]
        axes, full = ones[: draw.size(1, len(ones))], rank
    else:
        more = draw.size(1, 2)
        full = rank + more
        axes = sorted(int(a) for a in draw.rng.permutation(full)[:more])
    if v.since >= 11:
        axes = [a - full if draw.chance(0.3) else a for a in axes]
    x = anything(draw, v, tuple(shape))
    if v.operator == "Squeeze" and draw.chance(0.3):
        return Spec([x])
    return Spec([x], {"axes": axes}) if v.since < 13 else Spec([x, np.array(axes)], {}, [1])


@makes("Slice")
def slice_(draw, v):
    """Draw bounds: attributes before opset 10; steps since 10, negative axes since 11."""
    shape = draw.shape(1, 4, 5)
    rank = len(shape)
    axes = [int(a) for a in draw.rng.permutation(rank)[: draw.size(1, rank)]]
    starts, ends, steps = [], [], []
    for a in axes:
        d = shape[a]
        if v.since >= 10 and draw.chance(0.3):
            starts.append(draw.size(0, d) if draw.chance() else 2**31 - 1)
            ends.append(draw.size(-d - 3, -d - 1))
            steps.append(-draw.size(1, 2))
        else:
            first = draw.size(0, d - 1)
            starts.append(first - d if draw.chance(0.3) else first)
            ends.append(2**31 - 1 if draw.chance(0.3) else draw.size(first + 1, d + 2))
            steps.append(draw.size(1, 2) if v.since >= 10 else 1)
    x = anything(draw, v, shape)
    if v.since < 10:
        return Spec([x], {"starts": starts, "ends": ends, "axes": axes})
    if v.since >= 11:
        axes = [a - rank if draw.chance(0.4) else a for a in axes]
    dtype = np.int32 if draw.chance(0.3) else np.int64
    lists = [np.array(values, dtype) for values in (starts, ends, axes, steps)]
    return Spec([x, *lists], {}, [1, 2, 3, 4])


@makes("Split")
def split(draw, v):
    """Draw sizes: an attribute before opset 13, then an input; num_outputs since 18."""
    shape = list(draw.shape(1, 4, 4))
    axis, n = axis_of(draw, v, len(shape)), draw.size(1, 3)
    sizes = [draw.size(1, 3) for _ in range(n)]
    shape[axis] = sum(sizes)
    attributes = {"axis": axis} if axis or draw.chance() else {}
    if draw.chance(0.4):  # equal parts
        shape[axis] = n * draw.size(1, 3)
        if v.since >= 18:
            shape[axis] = max(shape[axis] - draw.size(0, 1), n)
            attributes["num_outputs"] = n
            if -(-shape[axis] // n) * (n - 1) >= shape[axis]:
                shape[axis] = n
        return Spec([anything(draw, v, tuple(shape))], attributes, outputs=[True] * n)
    x = anything(draw, v, tuple(shape))
    if v.since < 13:
        return Spec([x], attributes | {"split": sizes}, outputs=[True] * n)
    return Spec([x, np.array(sizes)], attributes, [1], [True] * n)


@makes("Tile")
def tile(draw, v):
    """Draw repeats, an input since opset 6."""
    shape = draw.shape(1, 4, 3)
    return Spec([anything(draw, v, shape), draw.ints((len(shape),), np.int64, 1, 3)], {}, [1])


@makes("Expand")
def expand(draw, v):
    """Draw a shape that the input broadcasts with."""
    shape = draw.shape(1, 4, 4)
    target = [d if d > 1 else draw.size(1, 3) for d in shape]
    more = [draw.size(1, 2) for _ in range(draw.size(0, 1))]
    expected = [1 if draw.chance(0.2) else d for d in target]
    return Spec([anything(draw, v, shape), np.array(more + expected)], {}, [1])


@makes("Transpose")
def transpose(draw, v):
    """Draw a permutation, or use the default."""
    shape = draw.shape(1, 5, 4)
    perm = [int(i) for i in draw.rng.permutation(len(shape))]
    return Spec([anything(draw, v, shape)], {"perm": perm} if draw.chance(0.8) else {})


@makes("Pad")
def pad(draw, v):
    """Draw pads: an attribute before opset 11, then an input; axes since 18, wrap since 19."""
    shape = draw.shape(1, 4, 4)
    rank = len(shape)
    modes = ["constant", "reflect", "edge", "wrap"][: 4 if v.since >= 19 else 3]
    mode = modes[draw.size(0, len(modes) - 1)]
    dtype = v.dtype(draw, among="float32 float64 int32 int64 int8 uint8")
    axes = list(range(rank))
    if v.since >= 18 and draw.chance(0.4):
        axes = [int(a) for a in draw.rng.permutation(rank)[: draw.size(1, rank)]]
    most = [shape[a] - 1 if mode != "constant" else 2 for a in axes]
    pads = [draw.size(0, m) for m in most * 2]
    if mode == "constant" and draw.chance(0.3):
        pads = [
            -draw.size(0, 1) if shape[a] > 2 else p for a, p in zip(axes * 2, pads, strict=False)
        ]
    x = draw.ints(shape, np.int64, 0, 100).astype(dtype)
    attributes = {"mode": mode} if mode != "constant" or draw.chance() else {}
    if v.since < 11:
        value = {"value": 1.5} if draw.chance() else {}
        return Spec([x], attributes | {"pads": pads} | value)
    inputs = [x, np.array(pads)]
    if mode == "constant" and draw.chance():
        inputs.append(np.array(7, dtype))
    if len(axes) < rank or v.since >= 18 and draw.chance(0.3):
        inputs += [None] * (3 - len(inputs))
        inputs.append(np.array([a - rank if draw.chance(0.3) else a for a in axes]))
    return Spec(inputs, attributes, [i for i, t in enumerate(inputs) if i and t is not None])


@makes("DepthToSpace", "SpaceToDepth")
def depth(draw, v):
    """Vary the mode, which exists since opset 11."""
    block, c, h, w = draw.size(1, 3), draw.size(1, 3), draw.size(1, 3), draw.size(1, 3)
    to_space = v.operator == "DepthToSpace"
    shape = (2, c * block**2, h, w) if to_space else (2, c, h * block, w * block)
    attributes = {"blocksize": block}
    if v.has("mode") and draw.chance(0.7):
        attributes["mode"] = "CRD" if draw.chance() else "DCR"
    return Spec([anything(draw, v, shape)], attributes)


@makes("Compress")
def compress(draw, v):
    """Compress along an axis or over all elements."""
    shape = draw.shape(1, 3, 4)
    axis = axis_of(draw, v, len(shape)) if draw.chance(0.7) else None
    n = int(np.prod(shape)) if axis is None else shape[axis]
    condition = draw.rng.integers(0, 2, n).astype(bool)
    condition[0] = True
    attributes = {} if axis is None else {"axis": axis}
    return Spec([anything(draw, v, shape), condition], attributes)


@makes("OneHot")
def one_hot(draw, v):
    """Draw indices, which may be negative since opset 11."""
    n = draw.size(2, 5)
    index = draw.ints(draw.shape(1, 3, 3), np.int64, -n if v.since >= 11 else 0, n - 1)
    attributes = {"axis": draw.size(-index.ndim - 1, index.ndim)} if draw.chance(0.6) else {}
    dtype = np.dtype("float32" if draw.chance() else "int64")
    kind = np.dtype("int64" if draw.chance(0.7) else "float32")
    return Spec([index.astype(kind), np.array([n]), np.array([2, 5], dtype)], attributes, [1])


@makes("Shape", "Size")
def shape_of(draw, v):
    """Draw start and end, which exist since opset 15."""
    shape = draw.shape(0, 5, 4)
    attributes = {}
    if v.has("start") and draw.chance(0.7):
        attributes = {"start": draw.size(-6, 6)} | (
            {"end": draw.size(-6, 6)} if draw.chance() else {}
        )
    return Spec([anything(draw, v, shape)], attributes)


@makes("ConstantOfShape")
def constant_of_shape(draw, v):
    """Draw a value of any dtype; default: 0.0."""
    dims = np.array(draw.shape(1, 4, 4))
    kinds = [
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "float16",
    ]
    value = np.ones(1, kinds[draw.size(0, len(kinds) - 1)]) * draw.size(0, 1)
    named = numpy_helper.from_array(value.astype(value.dtype), "value")
    return Spec([dims], {"value": named} if draw.chance(0.8) else {}, [0] if draw.chance() else ())


@makes("EyeLike")
def eye_like(draw, v):
    """Draw a diagonal and an explicit dtype."""
    x = anything(draw, v, (draw.size(1, 4), draw.size(1, 4)))
    attributes = {"k": draw.size(-2, 2)} if draw.chance() else {}
    if draw.chance():
        attributes["dtype"] = helper.np_dtype_to_tensor_dtype(np.dtype("int64"))
    return Spec([x], attributes)


@makes("NonZero")
def non_zero(draw, v):
    """Draw zeros and ones."""
    return Spec([draw.ints(draw.shape(1, 3, 4), np.int64, 0, 1).astype(v.dtype(draw))])


@makes("Unique")
def unique(draw, v):
    """Vary all elements or an axis, sorted or in order."""
    shape = draw.shape(1, 3, 4)
    x = draw.ints(shape, np.int64, 0, 2).astype(v.dtype(draw, but="bool"))
    attributes = {"axis": axis_of(draw, v, len(shape))} if draw.chance(0.5) else {}
    if draw.chance():
        attributes["sorted"] = int(draw.chance())
    return Spec([x], attributes, outputs=[True] * draw.size(1, 4))


@makes("ReverseSequence")
def reverse_sequence(draw, v):
    """Vary whether time or batch comes first."""
    shape = (draw.size(1, 4), draw.size(1, 4), *draw.shape(0, 2, 3))
    time = draw.size(0, 1)
    lengths = draw.ints((shape[1 - time],), np.int64, 1, shape[time])
    axes = {"time_axis": time, "batch_axis": 1 - time}
    return Spec([anything(draw, v, shape), lengths], axes if time or draw.chance() else {})


@makes("Range")
def range_(draw, v):
    """Count up or down."""
    dtype, step = v.dtype(draw, among="float32 float64 int16 int32 int64"), draw.size(1, 3)
    first, n = draw.size(-5, 5), draw.size(0, 6)
    sign = -1 if draw.chance(0.4) else 1
    ends = (first, first + sign * step * n, sign * step)
    return Spec(
        [np.array(e, dtype) for e in ends], {}, [0, 1, 2] if draw.chance(0.2) else [1, 0, 2]
    )
