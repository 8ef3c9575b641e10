"""Rules, by operator, for shapes that a run decides (see infer_extents).

A rule takes the pass (p), the node and the (dtype, dims) of its inputs. It returns those of the
outputs, None where they stay unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx

from ..errors import Problem
from ..protos import attributes_of
from . import equations, extent, window_rules

INT64, UINT8 = onnx.TensorProto.INT64, onnx.TensorProto.UINT8


def own_dim(node, bounds, derived=None, suffix="0"):
    """Return a run-time dim named after the node's first output, None if nothing bounds it.

    Args:
        node: the node whose run decides the dim.
        bounds: bounds of --bound, by name.
        derived: largest value that follows from the inputs, if any.
        suffix: end of the name, if a node has several dims.
    """
    first = next((name for name in node.output if name), "")
    limits = [bounds[name] for name in node.output if name in bounds]
    limits += [] if derived is None else [int(derived)]
    return extent.dim(f"{first}.{suffix}", min(limits)) if limits else None


def _nonzero(p, node, x):
    return [(INT64, [max(len(x[1]), 1), p.dim(node, math.prod(x[1]))])]


def _compress(p, node, x, condition):
    dtype, dims = x
    axis = attributes_of(node).get("axis")
    n = math.prod(dims) if axis is None else dims[axis]
    kept = p.dim(node, min(int(n), int(condition[1][0])))
    if axis is None:
        return [(dtype, [kept])]
    axis %= len(dims)
    return [(dtype, [*dims[:axis], kept, *dims[axis + 1 :]])]


def _unique(p, node, x):
    dtype, dims = x
    axis = attributes_of(node).get("axis")
    n = math.prod(dims) if axis is None else dims[axis]
    kept = p.dim(node, n)
    values = [kept]
    if axis is not None:
        axis %= len(dims)
        values = [*dims[:axis], kept, *dims[axis + 1 :]]
    return [(dtype, values), (INT64, [kept]), (INT64, [n]), (INT64, [kept])]


def _non_max_suppression(p, node, boxes, scores, *_):
    batches, classes, n = scores[1]
    most = p.input_contents(node, 2)
    if most is not None:
        n = min(int(n), max(int(most.reshape(-1)[0]), 0))
    elif len(node.input) < 3 or not node.input[2]:
        n = 0
    return [(INT64, [p.dim(node, batches * classes * n), 3])]


def _range(p, node, start, *_):
    values = [p.input_contents(node, i) for i in range(3)]
    n = None
    if all(v is not None for v in values):
        first, limit, delta = [v.item() for v in values]
        if not isinstance(delta, extent.Extent) and delta:
            n = extent.larger(-((first - limit) // delta), 0)
    return [(start[0], [n])] if n is not None else _unless_open(start[0], p.dims(node, 1))


def _as_input(p, node, x, *_):
    """Return the input's type for each output. Before opset 10, Dropout's mask has it too."""
    return [x] * len(node.output)


def _unless_open(dtype, dims):
    return None if None in dims else [(dtype, dims)]


def _constant_of_shape(p, node, shape):
    value = attributes_of(node).get("value")
    dims = p.input_contents(node, 0)
    if dims is None:
        dims = p.dims(node, shape[1][0])
    return _unless_open(value.data_type if value is not None else 1, list(dims))


def _window(p, node, size):
    size = p.input_contents(node, 0)
    dims = p.dims(node, 1) if size is None else [size.item()]
    return _unless_open(attributes_of(node).get("output_datatype", 1), dims)


def _mel_weights(p, node, *_):
    bins, length = (p.input_contents(node, i) for i in range(2))
    dims = p.dims(node, 2)
    if bins is not None and length is not None:
        dims = [length.item() // 2 + 1, bins.item()]
    return _unless_open(attributes_of(node).get("output_datatype", 1), dims)


def _image_decoder(p, node, _):
    colours = 1 if attributes_of(node).get("pixel_format", b"RGB") == b"Grayscale" else 3
    return _unless_open(UINT8, [*p.dims(node, 3)[:2], colours])


def _top_k(p, node, x, *_):
    dtype, dims = x
    axis = attributes_of(node).get("axis", -1) % len(dims)
    k = p.input_contents(node, 1)
    n = p.dim(node, dims[axis]) if k is None else k.item()
    dims = [*dims[:axis], n, *dims[axis + 1 :]]
    return [(dtype, dims), (INT64, dims)]


def _broadcast(p, node, *xs):
    is_comparison = node.op_type in _COMPARISONS
    dims = broadcast_dims(*(dims for _, dims in xs))
    return [(onnx.TensorProto.BOOL if is_comparison else xs[0][0], dims)]


def broadcast_dims(*shapes: Sequence[int]) -> list[int]:
    """Return the shape that these shapes broadcast to, even if a run decides some dims.

    Two Extents that are not known to be equal must be equal in a run: the smaller bound counts.
    """
    rank = max(len(dims) for dims in shapes)
    wide = [[1] * (rank - len(dims)) + [*dims] for dims in shapes]
    result = []
    for column in zip(*wide, strict=True):
        long = [d for d in column if d != 1] or [1]
        fixed = [d for d in long if not extent.is_open(d)]
        result.append(fixed[0] if fixed else min(long, key=int))
    return result


def _concat(p, node, *xs):
    dtype, dims = xs[0]
    axis = attributes_of(node)["axis"] % len(dims)
    total = sum(x[1][axis] for x in xs)
    return [(dtype, [*dims[:axis], total, *dims[axis + 1 :]])]


def _flatten(p, node, x):
    dtype, dims = x
    axis = attributes_of(node).get("axis", 1)
    axis += len(dims) * (axis < 0)
    return [(dtype, [math.prod(dims[:axis]), math.prod(dims[axis:])])]


def _reshape(p, node, x, *_):
    dtype, dims = x
    shape = p.input_contents(node, 1)
    if shape is None:
        return None
    keeps_zero = attributes_of(node).get("allowzero", 0)
    target = [
        dims[i] if not isinstance(d, extent.Extent) and d == 0 and not keeps_zero else d
        for i, d in enumerate(shape.tolist())
    ]
    if -1 in target:
        rest = math.prod(d for d in target if isinstance(d, extent.Extent) or d != -1)
        target[target.index(-1)] = extent.exact_quotient(math.prod(dims), rest)
    return [(dtype, target)]


def _squeeze(p, node, x, *_):
    dtype, dims = x
    axes = attributes_of(node).get("axes", p.input_contents(node, 1))
    if axes is None:
        return None
    removed = {int(axis) % len(dims) for axis in axes}
    return [(dtype, [d for i, d in enumerate(dims) if i not in removed])]


def _unsqueeze(p, node, x, *_):
    dtype, dims = x
    axes = attributes_of(node).get("axes", p.input_contents(node, 1))
    if axes is None:
        return None
    rank, rest = len(dims) + len(axes), iter(dims)
    new = {int(axis) % rank for axis in axes}
    return [(dtype, [1 if i in new else next(rest) for i in range(rank)])]


def _einsum(p, node, *xs):
    _, result, sizes = equations.parsed(attributes_of(node)["equation"], [d for _, d in xs])
    return [(xs[0][0], [sizes[label] for label in result])]


def _expand(p, node, x, shape):
    dtype, dims = x
    target = p.input_contents(node, 1)
    if target is None:
        target = p.dims(node, shape[1][0])
        if None in target or len(dims) > len(target):
            return None
    target = list(target)
    rank = max(len(dims), len(target))
    dims = [1] * (rank - len(dims)) + dims
    target = [1] * (rank - len(target)) + target
    return [(dtype, [d if w == 1 else w for d, w in zip(dims, target, strict=True)])]


def _tile(p, node, x, _):
    repeats = p.input_contents(node, 1)
    if repeats is None:
        return None
    return [(x[0], [d * r for d, r in zip(x[1], repeats, strict=True)])]


def _slice(p, node, x, *_):
    values = [p.input_contents(node, i) for i in range(1, 5)]
    count = p.known[node.input[1]][1][0] if len(node.input) > 1 else 0
    parts = slice_parts(node, x[1], values, count, p.bounds)
    if parts is None:
        return None
    dims = list(x[1])
    for axis, (_, n, _) in parts.items():
        dims[axis] = n
    return [(x[0], dims)]


def slice_parts(node, dims, values, count, bounds):
    """Return {axis: (first, number, step)} of a Slice, None if they are unknown.

    Args:
        node: the Slice.
        dims: dims of its input.
        values: contents of starts, ends, axes and steps (opset 10 and later), each None if
            unknown.
        count: elements of starts.
        bounds: bounds of --bound, by name.
    """
    a = attributes_of(node)
    has_input = [len(node.input) > i and bool(node.input[i]) for i in range(1, 5)]
    if not has_input[0]:
        starts, ends, axes, steps = a["starts"], a["ends"], a.get("axes"), None
    else:
        if any(g and v is None for g, v in zip(has_input[2:], values[2:], strict=True)):
            return None
        starts, ends, axes, steps = [None if v is None else v.tolist() for v in values]
    count = count if has_input[0] else len(starts)
    axes = axes if axes is not None else list(range(count))
    steps = steps if steps is not None else [1] * len(axes)
    parts = {}
    for i, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        d = dims[axis % len(dims)]
        known = starts is not None and ends is not None
        first, n = _clamped(d, starts[i], ends[i], step) if known else (None, None)
        if n is None:
            first = own_dim(node, {}, d, f"first{axis}")
            n = own_dim(node, bounds, -(-int(d) // abs(step)), f"{axis}")
        parts[axis % len(dims)] = first, n, step
    return parts


def _clamped(d, start, end, step):
    """Return (first, number) of a slice's elements within d; (None, None) if unknown."""
    low, high = (0, d) if step > 0 else (-1, d - 1)
    try:
        first, last = [
            extent.smaller(extent.larger(v + d if v < 0 else v, least), high)
            for v, least in ((start, 0), (end, low))
        ]
    except Problem:  # only a run knows if it counts from the end
        return None, None
    if step > 0:
        return first, extent.larger(-((first - last) // step), 0)
    return first, extent.larger(-((last - first) // -step), 0)


_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_ELEMENTWISE = (
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Mod",
    "Min",
    "Max",
    "And",
    "Or",
    "Xor",
    "PRelu",
)
BROADCASTING = _ELEMENTWISE + _COMPARISONS

# Operators whose data decide the shape, whatever shape the model declares.
DATA_DEPENDENT = {
    "NonZero": _nonzero,
    "Compress": _compress,
    "Unique": _unique,
    "NonMaxSuppression": _non_max_suppression,
}
# Operators whose inputs decide the shape: a declared shape is only its bound.
INPUT_DEPENDENT = {
    "Range": _range,
    "ConstantOfShape": _constant_of_shape,
    "HannWindow": _window,
    "HammingWindow": _window,
    "BlackmanWindow": _window,
    "MelWeightMatrix": _mel_weights,
    "ImageDecoder": _image_decoder,
}
RULES = (
    DATA_DEPENDENT
    | INPUT_DEPENDENT
    | {
        "TopK": _top_k,
        "Concat": _concat,
        "Flatten": _flatten,
        "Reshape": _reshape,
        "Expand": _expand,
        "Tile": _tile,
        "Slice": _slice,
        "Conv": window_rules.conv,
        "ConvInteger": window_rules.conv_integer,
        "ConvTranspose": window_rules.conv_transpose,
        "GroupNormalization": window_rules.same_shape,
        "MeanVarianceNormalization": window_rules.same_shape,
        "QLinearConv": window_rules.qlinear_conv,
        "Dropout": _as_input,
        "Einsum": _einsum,
        "MaxUnpool": window_rules.max_unpool,
        "STFT": window_rules.stft,
        "Squeeze": _squeeze,
        "Unsqueeze": _unsqueeze,
        "DepthToSpace": window_rules.depth_to_space,
        "Pad": window_rules.pad,
        "Resize": window_rules.resize,
        "SpaceToDepth": window_rules.space_to_depth,
        "Split": window_rules.split,
    }
    | dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), window_rules.pool)
    | dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), window_rules.global_pool)
    | dict.fromkeys(BROADCASTING, _broadcast)
)
