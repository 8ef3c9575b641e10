"""Emission for values whose shape a run decides (see tools/converter/shapes/extent.py)."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent
from ..shapes.extent_rules import own_dim, slice_parts
from ._move import emit_move, strides_of


def store(node, out: Tensor) -> Tensor:
    """Memory for the most that an output can hold; the output is its beginning."""
    whole = node.temp(out.dtype, [extent.bound_of(out.nelem)])
    node.alias(out, whole)
    return whole


def emit_measure(node, i: int, shape: Sequence[int], others: Sequence[int] = ()) -> None:
    """Sets those dims of the shape that are the node's own to the items of the i-th input.

    If none is, the items must be those of the shape, or those of others.
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
    """Where only a run knows the i-th input: it must have, item by item, one of these values."""
    t = node.input(i)
    if t is not None and t.data is None and t.contents is None and len(choices) == t.nelem:
        threes = [(*values, *values, *values)[:3] for values in choices]
        node.emit("expect", [node.inputs[i]], [], choices=[v for row in threes for v in row])


def emit_slice(node, x: Tensor, out: Tensor) -> None:
    """A Slice of which a run decides where it begins or ends, or the shape of x."""
    values = [node.contents(i) for i in range(1, 5)]
    count = node.input(1).shape[0] if node.input(1) is not None else 0
    parts = slice_parts(node.proto, x.shape, values, count, node.bounds)
    if parts is None:
        raise Problem("axes or steps that only a run knows")
    strides = strides_of(x.shape)
    steps, x_first = list(strides), 0
    for place, (axis, (first, n, step)) in enumerate(parts.items()):
        if extent.is_own(out.shape[axis], out.name) or extent.is_own(n, out.name):
            first = own_dim(node.proto, {}, x.shape[axis], f"first{axis}")
            n = out.shape[axis] if extent.is_own(out.shape[axis], out.name) else n
            numbers = {"first": extent.number_of(first), "count": extent.number_of(n)}
            numbers |= {"place": place, "length": x.shape[axis], "step": step}
            node.emit("slice_extent", node.inputs[1:3], [], **numbers)
        emit_same(node, [(n, out.shape[axis])])
        x_first = x_first + first * strides[axis]
        steps[axis] = step * strides[axis]
    emit_move(node.emit, x, out, out.shape, steps, strides_of(out.shape), x_first)


def emit_same(node, pairs: Sequence[tuple[int, int]]) -> None:
    """Extents that must be equal are compared in a run, unless they are known to be."""
    found = [v for a, b in pairs if a != b and extent.any_open((a, b)) for v in (a, b)]
    if found:
        node.emit("same", [], [], pairs=found)


def matched(node, x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return x for broadcasting to a shape: extents that must be equal are compared in a run.

    A constant of one element, [1.0], also fits a scalar.
    """
    dims = list(x.shape)
    skip = len(shape) - len(dims)
    if skip < 0 and dims[:-skip] == [1] * -skip:
        return matched(node, node.reshaped(x, dims[-skip:]), shape)
    pairs = []
    for i, d in enumerate(dims):
        wanted = shape[skip + i]
        if d != wanted and d != 1 and extent.any_open((d, wanted)):
            if not extent.is_open(wanted) and int(d) < wanted:
                raise Problem(f"a run-time extent of {d} where {wanted} is needed")
            if x.data is not None:
                raise Problem(f"a run-time extent of {wanted} where {d} is needed")
            pairs.append((d, wanted))
            dims[i] = wanted
    if not pairs:
        return x
    emit_same(node, pairs)
    return node.reshaped(x, dims)
