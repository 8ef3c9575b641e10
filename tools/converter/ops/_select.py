"""Emission of selections: each axis of the output takes elements of one axis of the input.

    out[i, j, ...] = x[maps[0][i], maps[1][j], ...]

Slice, Pad, Tile, nearest-neighbour Resize and others are selections. Maps that consist of a few
regular runs become strided copies (kernel move), others use kernel gather.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ._move import emit_move, strides_of

_MAX_MOVES = 12  # one gather costs less than more steps, each with some 500 bytes of heap


@dataclass
class _Run:
    """A regular part of a map.

    out[out_first + i * dims[1] + j] = x[first + i * strides[0] + j * strides[1]].
    """

    out_first: int
    first: int
    dims: tuple[int, int]
    strides: tuple[int, int]


@dataclass
class Whole:
    """The map of an axis whose extent only a run knows: it selects all elements.

    Attributes:
        begin: index of its first element in the output.
    """

    begin: int = 0


Maps = Sequence[Sequence[int] | Whole]


def emit_select(node, x: Tensor, out: Tensor, maps: Maps) -> None:
    """Emit out = x[maps], the selection of an index of x for each index of out.

    Elements of out whose index is negative keep their value.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        maps: for each axis the indices in x, or a Whole.
    """
    maps = [m if isinstance(m, Whole) else np.asarray(m, np.int64) for m in maps]
    if out.nelem == 0:
        return
    runs = [
        [_Run(m.begin, 0, (1, d), (0, 1))] if isinstance(m, Whole) else _runs_of(m)
        for m, d in zip(maps, x.shape, strict=True)
    ]
    while math.prod(map(len, runs)) > _MAX_MOVES:
        axis = max(range(len(maps)), key=lambda a: len(runs[a]))
        taken = maps[axis] >= 0
        index = node.constant(maps[axis][taken].astype(np.int32))
        maps[axis] = np.where(taken, np.cumsum(taken) - 1, -1)
        runs[axis] = _runs_of(maps[axis])
        shape = (*x.shape[:axis], index.nelem, *x.shape[axis + 1 :])
        last = _is_copy(shape, out, maps)
        target = out if last else node.temp(x.dtype, shape)
        emit_gather(node, x, index, target, axis)
        if last:
            return
        x = target
    for combination in itertools.product(*runs):
        _emit_runs(node, x, out, combination)


def alias_or_select(node, x: Tensor, out: Tensor, maps: Maps) -> None:
    """Emit out = x[maps], or make out a view of x if both have the same elements.

    No other step may write to out. Arguments are those of emit_select.
    """
    if _is_copy(x.shape, out, maps):
        node.alias(out, x)
    else:
        emit_select(node, x, out, maps)


def selected(node, x: Tensor, maps: Sequence[Sequence[int]]) -> Tensor:
    """Return x[maps] as a new tensor, at conversion if x is known."""
    if x.data is not None:
        return node.constant(x.data[np.ix_(*maps)])
    out = node.temp(x.dtype, [len(m) for m in maps])
    alias_or_select(node, x, out, maps)
    return out


def emit_known_gather(node, x: Tensor, index: Tensor, out: Tensor, axis: int) -> None:
    """Emit out = numpy.take(x, index, axis) for an index that is known."""
    flat, d = index.data.reshape(-1).astype(np.int64), x.shape[axis]
    if flat.size and not (-d <= flat.min() and flat.max() < d):
        raise Problem(f"an index is outside -{d} .. {d - 1}")
    maps = [np.arange(d) for d in x.shape]
    maps[axis] = flat % max(d, 1)
    whole = node.temp(x.dtype, [len(m) for m in maps])
    node.alias(whole, out)
    emit_select(node, x, whole, maps)


def _is_copy(shape, out, maps) -> bool:
    return shape == out.shape and all(map(_is_identity, maps))


def _is_identity(m) -> bool:
    return not m.begin if isinstance(m, Whole) else np.array_equal(m, np.arange(len(m)))


def _emit_runs(node, x, out, runs):
    dims, x_strides, out_strides, x_first, out_first = [], [], [], 0, 0
    for run, xs, os in zip(runs, strides_of(x.shape), strides_of(out.shape), strict=True):
        dims += run.dims
        x_strides += [s * xs for s in run.strides]
        out_strides += [run.dims[1] * os, os]
        x_first += run.first * xs
        out_first += run.out_first * os
    emit_move(node.emit, x, out, dims, x_strides, out_strides, x_first, out_first)


def _runs_of(index):
    """Return the map as runs: a single one of two levels if possible, else linear ones."""
    whole = _regular(index)
    return [whole] if whole else _linear_runs(index.tolist())


def _regular(index):
    n = len(index)
    if index.min() < 0:
        return None
    for width in range(n, 0, -1):
        if n % width:
            continue
        grid = index.reshape(-1, width)
        s0 = int(grid[1, 0] - grid[0, 0]) if len(grid) > 1 else 0
        s1 = int(grid[0, 1] - grid[0, 0]) if width > 1 else 0
        ideal = grid[0, 0] + s0 * np.arange(len(grid))[:, None] + s1 * np.arange(width)
        if np.array_equal(grid, ideal):
            return _Run(0, int(grid[0, 0]), grid.shape, (s0, s1))
    return None


def _linear_runs(index):
    runs, i = [], 0
    while i < len(index):
        if index[i] < 0:
            i += 1
            continue
        j, step = i + 1, 0
        if j < len(index) and index[j] >= 0:
            step = index[j] - index[i]
            while j < len(index) and index[j] >= 0 and index[j] - index[j - 1] == step:
                j += 1
        runs.append(_Run(i, index[i], (1, j - i), (0, step)))
        i = j
    return runs


def emit_gather(node, x: Tensor, index: Tensor, out: Tensor, axis: int) -> None:
    """Emit out = numpy.take(x, index, axis).

    The index is int32 or int64, and checked when the model runs.
    """
    unit = 4 if x.itemsize % 4 == 0 else 1
    inner = math.prod(x.shape[axis + 1 :]) * x.itemsize // unit
    outer = math.prod(x.shape[:axis])
    node.emit("gather", [x, index], [out], unit=unit, outer=outer, n=x.shape[axis], inner=inner)
