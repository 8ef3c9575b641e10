"""Views of a shape as (outer, n, inner), which kernels along an axis need."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ir import Tensor
from ._move import emit_transpose


def lines_of(shape: Sequence[int], axis: int) -> tuple[int, int, int]:
    """Return (outer, n, inner): the number of elements before, along and after an axis."""
    axis %= max(len(shape), 1)
    n = shape[axis] if shape else 1
    return math.prod(shape[:axis]), n, math.prod(shape[axis + 1 :])


def named_lines(lines: Sequence[int]) -> dict[str, int]:
    """Return (outer, n, inner) by the names of kernels' parameters."""
    return dict(zip(("outer", "n", "inner"), lines, strict=True))


def join_axes(node, x: Tensor, axes: Sequence[int]) -> tuple[Tensor, tuple[int, int, int]]:
    """Return x and its shape (outer, n, inner) with all axes joined in n.

    Axes that are not neighbours are brought together by a transpose.
    """
    rank = len(x.shape)
    axes = {a % rank for a in axes}
    long = [a for a in range(rank) if x.shape[a] != 1]
    positions = [i for i, a in enumerate(long) if a in axes]
    n = math.prod(x.shape[a] for a in axes)
    if not positions:
        return x, (x.nelem, 1, 1) if n else (_kept(x, axes), n, 1)
    if positions[-1] - positions[0] == len(positions) - 1:
        first, last = long[positions[0]], long[positions[-1]]
        return x, (math.prod(x.shape[:first]), n, math.prod(x.shape[last + 1 :]))
    perm = [a for a in range(rank) if a not in axes] + sorted(axes)
    moved = node.temp(x.dtype, [x.shape[a] for a in perm])
    emit_transpose(node, x, moved, x.shape, perm)
    return moved, (_kept(x, axes), n, 1)


def _kept(x, axes):
    return math.prod(d for a, d in enumerate(x.shape) if a not in axes)
