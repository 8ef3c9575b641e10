"""Emission of kernel move (mpconnxr/ops/move.py): strided copies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps import overlap

_LIMIT = 1 << 29  # the device's BIAS


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return the strides of a shape in C order [elements]."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def collapse(dims: Sequence[int], *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Return dims and strides of the same elements in the same order, with fewer dimensions.

    Dimensions of 1 are dropped, and neighbours merged if all strides allow it.
    """
    out_dims: list[int] = []
    out_strides: list[list[int]] = [[] for _ in strides]
    for i, d in enumerate(dims):
        if d == 1:
            continue
        if out_dims and all(o[-1] == s[i] * d for o, s in zip(out_strides, strides, strict=True)):
            out_dims[-1] *= d
            for o, s in zip(out_strides, strides, strict=True):
                o[-1] = s[i]
            continue
        out_dims.append(d)
        for o, s in zip(out_strides, strides, strict=True):
            o.append(s[i])
    return out_dims, out_strides


def emit_move(
    emit,
    x: Tensor,
    out: Tensor,
    dims: Sequence[int],
    x_strides: Sequence[int],
    out_strides: Sequence[int],
    x_first: int = 0,
    out_first: int = 0,
) -> None:
    """Emit out[out_first + i . out_strides] = x[x_first + i . x_strides] for all i < dims.

    Nothing is emitted for an empty move.

    Args:
        emit: Node.emit, or a function with the same keywords.
        x: the source.
        out: the destination, of the same itemsize.
        dims: number of elements along each dimension.
        x_strides: strides in x [elements].
        out_strides: strides in out [elements].
        x_first: index of the first element in x.
        out_first: index of the first element in out.
    """
    if 0 in dims:
        return
    unit = 4 if x.itemsize % 4 == 0 else 1
    per = x.itemsize // unit  # units in an element
    dims, (x_strides, out_strides) = collapse(
        [*dims, per], [s * per for s in x_strides] + [1], [s * per for s in out_strides] + [1]
    )
    firsts = [x_first * per, out_first * per]
    if unit == 1 and _is_whole_words(dims, x_strides, out_strides, firsts):
        unit = 4
        dims[-1] //= 4
        x_strides = [s // 4 for s in x_strides[:-1]] + [1]
        out_strides = [s // 4 for s in out_strides[:-1]] + [1]
        firsts = [f // 4 for f in firsts]
    numbers = (*dims, *x_strides, *out_strides, *firsts)
    if any(abs(p) >= _LIMIT for p in numbers):
        raise Problem("tensor too large for a 32-bit move")
    emit(
        kernel="move",
        inputs=[x],
        outputs=[out],
        behind={} if any_open(numbers) else _behind(unit, dims, x_strides, out_strides, firsts),
        unit=unit,
        rank=len(dims),
        dims=dims,
        x_strides=x_strides,
        out_strides=out_strides,
        x_first=firsts[0],
        out_first=firsts[1],
    )


def _behind(unit, dims, x_strides, out_strides, firsts):
    """Return the lead of input 0 of a move: it reads and writes element by element.

    Args:
        unit: bytes of an element.
        dims: number of elements along each dimension.
        x_strides: strides of the input [elements].
        out_strides: strides of the output [elements].
        firsts: first element of the input and of the output.
    """
    if math.prod(dims) > overlap.MAX_TRACKED:
        return {}
    read = places(dims, x_strides, firsts[0])
    written = places(dims, out_strides, firsts[1] + 1)
    return {0: overlap.lag(read.reshape(-1) * unit, written.reshape(-1) * unit)}


def places(dims: Sequence[int], strides: Sequence[int], first: int) -> np.ndarray:
    """Return the index of each element of a walk, in an array of shape dims."""
    indices = np.full(dims, first, np.int64)
    for index, stride in zip(np.ogrid[tuple(slice(d) for d in dims)], strides, strict=True):
        indices += index * stride
    return indices


def _is_whole_words(dims, x_strides, out_strides, firsts) -> bool:
    """Return True if a move of bytes moves whole, aligned words of 4 bytes.

    Args:
        dims: sizes of the moved block; the last dimension is the innermost.
        x_strides: strides in x, one for each dimension.
        out_strides: strides in out.
        firsts: list of the first elements in x and in out.
    """
    if not dims or dims[-1] % 4 != 0 or x_strides[-1] != 1 or out_strides[-1] != 1:
        return False
    return all(s % 4 == 0 for s in x_strides[:-1] + out_strides[:-1] + firsts)


def emit_copy(emit, x: Tensor, out: Tensor) -> None:
    """Emit out = x, element by element in C order."""
    emit_move(emit, x, out, [x.nelem], [1], [1])


def emit_transpose(node, x: Tensor, out: Tensor, view: Sequence[int], perm: Sequence[int]) -> None:
    """Emit out = numpy.transpose(x, perm), with x reshaped to `view` first.

    If no element changes its place, out becomes a view of x.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        view: a shape of x.
        perm: axes of `view` in the order of the output.
    """
    strides = strides_of(view)
    order = [a for a in perm if view[a] != 1]
    if order == sorted(order):
        node.alias(out, x)
        return
    dims = [view[a] for a in perm]
    emit_move(node.emit, x, out, dims, [strides[a] for a in perm], strides_of(dims))


def emit_empty_move(emit, x: Tensor, out: Tensor) -> None:
    """Emit a copy of no elements, as the step of an operator on empty tensors."""
    steps = {"x_strides": [1], "out_strides": [1], "x_first": 0, "out_first": 0}
    emit(kernel="move", inputs=[x], outputs=[out], unit=1, rank=1, dims=[0], **steps)


def emit_fill(node, value: Tensor, out: Tensor) -> None:
    """Emit out = the only element of value, everywhere."""
    emit_move(node.emit, value, out, [out.nelem], [0], [1])
