"""Where and Trilu -> kernels move and select."""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from . import lowers
from ._dtypes import BOOL
from ._elementwise import binary, broadcast, runs_of
from ._extents import matched
from ._move import collapse, emit_move, strides_of


@lowers("Where")
def lower_where(node):
    emit_where(node, *node.inputs, node.outputs[0])


def emit_where(node, condition: Tensor, a: Tensor, b: Tensor, out: Tensor) -> None:
    """out = a where the condition holds, else b, all broadcast to out.

    b fills the output; a then goes where the condition holds.
    """
    if 0 in out.shape:
        return
    condition, a, b = [matched(node, t, out.shape) for t in (condition, a, b)]
    dims, (strides,) = broadcast(out.shape, b)
    emit_move(node.emit, b, out, dims, strides, strides_of(dims))
    dims, (a_strides, condition_strides) = broadcast(out.shape, a, condition)
    unit = 4 if a.itemsize % 4 == 0 else 1
    per = a.itemsize // unit  # device items an element
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
    """Keeps what lies on or above (upper) or below the k-th diagonal of each matrix."""
    x, k, out = node.inputs[0], node.input(1), node.outputs[0]
    shape, upper = x.shape[-2:], node.attr("upper", 1)
    if k is None or k.data is not None:
        value = int(k.data.reshape(-1)[0]) if k else 0
        ones = np.ones(shape, np.bool_)
        mask = node.constant(np.triu(ones, value) if upper else np.tril(ones, value))
    else:
        mask = _mask(node, k, *shape, "greaterequal" if upper else "lessequal")
    emit_where(node, mask, x, node.constant(np.zeros(1, x.np_dtype)), out)


def _mask(node, k, rows, columns, comparison):
    """column op row + k; a k that leaves the matrix is cut first, so that the sum fits."""
    k = node.reshaped(k, (1,))
    for op, limit in (("min", columns), ("max", -rows)):
        k = binary(node, op, k, np.int64(limit))
    edge = binary(node, "add", node.constant(np.arange(rows)[:, None]), k)
    return binary(node, comparison, node.constant(np.arange(columns)), edge, BOOL)
