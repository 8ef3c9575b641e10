"""Emission for tensors whose shape only a run decides (see tools/converter/shapes/extent.py)."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent
from ..shapes.extent_rules import own_dim, slice_parts
from ._move import emit_move, strides_of


def store(node, out: Tensor) -> Tensor:
    """Return a tensor with memory for the largest `out`, which becomes a view of its beginning."""
    whole = node.temp(out.dtype, [extent.bound_of(out.nelem)])
    node.alias(out, whole)
    return whole


def emit_measure(node, i: int, shape: Sequence[int], others: Sequence[int] = ()) -> None:
    """Set run-time dimensions in the run to the elements of an integer input.

    Only dimensions of `shape` that the node itself defines are set. If it defines none, the run
    checks that the elements equal `shape`, or `others` if these are passed.

    Args:
        node: the node to lower.
        i: index of the input.
        shape: shape that the input describes.
        others: extents to compare the elements with instead of `shape`.
    """
    names = {t.name for t in node.outputs if t}
    pairs: list[int] = []
    for k, d in enumerate(shape):
        if any(extent.is_own(d, name) for name in names):
            pairs += [k, extent.number_of(d)]
    if pairs:
        node.emit("measure", [node.inputs[i]], [], pairs=pairs)
    else:
        emit_expect(node, i, list(zip(shape, others or shape, strict=True)))


def emit_expect(node, i: int, choices: Sequence[Sequence[int]]) -> None:
    """Check in the run that the i-th input has one of these values, element by element.

    Nothing is emitted if its contents are known or follow from shapes.
    """
    t = node.input(i)
    if t is not None and t.data is None and t.contents is None and len(choices) == t.nelem:
        threes = [(*values, *values, *values)[:3] for values in choices]
        node.emit("expect", [node.inputs[i]], [], choices=[v for row in threes for v in row])


def emit_slice(node, x: Tensor, out: Tensor) -> None:
    """Emit a Slice whose bounds, or the shape of x, only a run decides."""
    values = [node.contents(i) for i in range(1, 5)]
    count = node.input(1).shape[0] if node.input(1) is not None else 0
    parts = slice_parts(node.proto, x.shape, values, count, node.bounds)
    if parts is None:
        raise Problem("axes or steps that only a run knows")
    strides = strides_of(x.shape)
    steps, x_first = list(strides), 0
    for index, (axis, (first, n, step)) in enumerate(parts.items()):
        if extent.is_own(out.shape[axis], out.name) or extent.is_own(n, out.name):
            first = own_dim(node.proto, {}, x.shape[axis], f"first{axis}")
            n = out.shape[axis] if extent.is_own(out.shape[axis], out.name) else n
            numbers = {"first": extent.number_of(first), "count": extent.number_of(n)}
            numbers |= {"place": index, "length": x.shape[axis], "step": step}
            node.emit("slice_extent", node.inputs[1:3], [], **numbers)
        emit_same(node, [(n, out.shape[axis])])
        x_first = x_first + first * strides[axis]
        steps[axis] = step * strides[axis]
    emit_move(node.emit, x, out, out.shape, steps, strides_of(out.shape), x_first)


def emit_same(node, pairs: Sequence[tuple[int, int]]) -> None:
    """Check in the run that two extents of each pair are equal, unless that is known."""
    extents = [v for a, b in pairs if a != b and extent.any_open((a, b)) for v in (a, b)]
    if extents:
        node.emit("same", [], [], pairs=extents)


def matched(node, x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return x for broadcasting to a shape; the run checks that open extents are equal.

    A constant of one element, [1.0], also fits a scalar.
    """
    dims = list(x.shape)
    skip = len(shape) - len(dims)
    if skip < 0 and dims[:-skip] == [1] * -skip:
        return matched(node, node.reshaped(x, dims[-skip:]), shape)
    pairs = []
    for i, d in enumerate(dims):
        required = shape[skip + i]
        if d != required and d != 1 and extent.any_open((d, required)):
            if not extent.is_open(required) and int(d) < required:
                raise Problem(f"a run-time extent of {d} where {required} is needed")
            if x.data is not None:
                raise Problem(f"a run-time extent of {required} where {d} is needed")
            pairs.append((d, required))
            dims[i] = required
    if not pairs:
        return x
    emit_same(node, pairs)
    return node.reshaped(x, dims)
