"""Models of reductions over axes, and of operators along one axis."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes


def axis_of(draw, v, rank: int, since: int = 11) -> int:
    """Draw an axis of a tensor, which may be negative from version `since` on."""
    axis = draw.size(0, rank - 1)
    return axis - rank if v.since >= since and draw.chance(0.4) else axis


@makes(
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd",
    "ReduceSum ReduceSumSquare",
)
def reduce(draw, v):
    """Draw axes or none: an attribute before opset 18 (ReduceSum: 13), then an input."""
    dtype, shape = v.dtype(draw), draw.shape(1, 5, 4)
    if dtype.kind == "f":
        x = draw.floats(shape, dtype)
        x = np.abs(x) + dtype.type(0.1) if v.operator == "ReduceLogSum" else x
    elif dtype.kind == "b":
        x = draw.rng.integers(0, 2, shape).astype(bool)
    else:
        x = draw.ints(shape, dtype, 0, 3)
    rank = len(shape)
    chosen = draw.rng.permutation(rank)[: draw.size(1, rank)]
    axes = [int(a) - rank * int(v.since >= 11 and draw.chance(0.4)) for a in chosen]
    axes = axes if draw.chance(0.7) else None
    attributes = {"keepdims": int(draw.chance())} if draw.chance(0.7) else {}
    if v.has("axes"):
        return Spec([x], attributes | ({"axes": axes} if axes else {}))
    if draw.chance(0.3):
        attributes["noop_with_empty_axes"] = int(draw.chance())
    if axes is None:
        more = [[], [np.zeros(0, np.int64)]][draw.size(0, 1)]
        return Spec([x, *more], attributes, [1] if more else ())
    return Spec([x, np.array(axes)], attributes, [1] if draw.chance() else ())


@makes("ArgMax", "ArgMin")
def arg(draw, v):
    """Draw ties: the first wins, or the last with select_last_index (since opset 12)."""
    shape, dtype = draw.shape(1, 5, 4), v.dtype(draw)
    x = draw.ints(shape, np.int64, 0, 3).astype(dtype)
    attributes = {"axis": axis_of(draw, v, len(shape))} if draw.chance(0.8) else {}
    if draw.chance(0.7):
        attributes["keepdims"] = int(draw.chance())
    if v.has("select_last_index") and draw.chance():
        attributes["select_last_index"] = 1
    return Spec([x], attributes)


@makes("Hardmax", "LogSoftmax", "Softmax")
def softmax(draw, v):
    """Draw an axis; before opset 13 it separates the rows from the columns of a matrix."""
    shape = draw.shape(1, 5, 4)
    if len(shape) == 1 and v.since < 13:
        shape = (2, *shape)
    x = draw.floats(shape, v.dtype(draw))
    return Spec([x], {"axis": axis_of(draw, v, len(shape))} if draw.chance(0.8) else {})


@makes("LpNormalization")
def lp_norm(draw, v):
    """Draw order 1 or 2."""
    shape = draw.shape(1, 4, 4)
    attributes = {"axis": axis_of(draw, v, len(shape), 1)} if draw.chance(0.7) else {}
    if draw.chance():
        attributes["p"] = draw.size(1, 2)
    return Spec([draw.floats(shape, v.dtype(draw))], attributes)


@makes("CumSum")
def cum_sum(draw, v):
    """Draw flags and the axis, an input."""
    shape = draw.shape(1, 4, 4)
    x = draw.ints(shape, np.int64, -9, 9).astype(v.dtype(draw, but="uint32 uint64"))
    flags = {n: 1 for n in ("exclusive", "reverse") if draw.chance(0.4)}
    axis = np.array(axis_of(draw, v, len(shape)), np.int32 if draw.chance() else np.int64)
    return Spec([x, axis], flags, [1])


@makes("TopK")
def top_k(draw, v):
    """Draw k: an attribute before opset 10, then an input; `largest` since opset 11."""
    shape = draw.shape(1, 4, 5)
    rank = len(shape)
    axis = axis_of(draw, v, rank)
    dtype = v.dtype(draw)
    x = draw.rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    k = draw.size(1, shape[axis])
    attributes = {"axis": axis}
    if axis in (-1, rank - 1) and draw.chance(0.3):
        attributes = {}
    if v.has("largest") and draw.chance():
        attributes["largest"] = int(draw.chance())
    if v.since < 10:
        return Spec([x], attributes | {"k": k}, outputs=(True, True))
    return Spec([x, np.array([k])], attributes, [1], (True, True))
