"""Lower Where and Trilu to kernels move and select."""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open, is_open
from . import lowers
from ._dtypes import BOOL
from ._elementwise import binary, broadcast, runs_of
from ._extents import matched
from ._move import collapse, emit_move, strides_of

_FAR = 1 << 30  # a diagonal beyond all matrices; plus the index of a row it fits 32 bits


@lowers("Where")
def lower_where(node):
    emit_where(node, *node.inputs, node.outputs[0])


def emit_where(node, condition: Tensor, a: Tensor, b: Tensor, out: Tensor) -> None:
    """Emit out = a where the condition is true, else b, with broadcasting.

    b is copied to the output first; a then overwrites it where the condition is true.

    Args:
        node: the node to lower.
        condition: bools.
        a: the first choice.
        b: the second choice.
        out: the output.
    """
    if 0 in out.shape:
        return
    condition, a, b = [matched(node, t, out.shape) for t in (condition, a, b)]
    dims, (strides,) = broadcast(out.shape, b)
    emit_move(node.emit, b, out, dims, strides, strides_of(dims))
    dims, (a_strides, condition_strides) = broadcast(out.shape, a, condition)
    unit = 4 if a.itemsize % 4 == 0 else 1
    per = a.itemsize // unit  # units in an element
    dims, (a_strides, condition_strides, _) = collapse(
        [*dims, per],
        [s * per for s in a_strides] + [1],
        [*condition_strides, 0],
        [s * per for s in strides_of(dims)] + [1],
    )
    runs = runs_of(dims, a_strides, condition_strides)
    node.emit("select", [a, condition], [out], unit=unit, runs=runs)


@lowers("Trilu")
def lower_trilu(node):
    """Lower Trilu: elements on or above (upper) or below the k-th diagonal are kept."""
    x, k, out = node.inputs[0], node.input(1), node.outputs[0]
    shape, upper = x.shape[-2:], node.attr("upper", 1)
    is_known = k is None or k.data is not None
    value = int(k.data.reshape(-1)[0]) if k is not None and is_known else 0
    if is_known and not any_open(shape):
        ones = np.ones(shape, np.bool_)
        mask = node.constant(np.triu(ones, value) if upper else np.tril(ones, value))
    else:
        if is_known:
            k = node.constant(np.array([np.clip(value, -_FAR, _FAR)], np.int32))
        mask = _mask(node, k, *shape, "greaterequal" if upper else "lessequal")
    emit_where(node, mask, x, node.constant(np.zeros(1, x.np_dtype)), out)


def _mask(node, k, rows, columns, comparison):
    """Return a mask of a matrix's elements with column <= row + k, or another comparison.

    Args:
        node: the node to lower.
        k: number of the diagonal.
        rows: number of rows.
        columns: number of columns.
        comparison: operator of kernel binary.
    """
    k = node.reshaped(k, (1,))
    if k.data is None:
        for op, limit in (("min", _FAR), ("max", -_FAR)):
            k = binary(node, op, k, np.int64(limit))
    below = node.reshaped(_counted(node, rows, k), (rows, 1))
    edge = binary(node, "add", below, k)
    return binary(node, comparison, _counted(node, columns, k), edge, BOOL)


def _counted(node, n, k):
    """Return 0 .. n - 1, in the dtype of k."""
    if not is_open(n):
        return node.constant(np.arange(n, dtype=k.np_dtype))
    limit, out = node.temp(k.dtype, (1,)), node.temp(k.dtype, (n,))
    node.emit("numbers", [], [limit], elements=[n])
    ends = [node.constant(np.array([v], k.np_dtype)) for v in (0, 1)]
    node.emit("range", [ends[0], limit, ends[1]], [out], count=[])
    return out
