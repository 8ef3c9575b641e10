"""Trilu -> kernels move and select, by a mask."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._elementwise import emit_binary
from .select import emit_where

BOOL = 9


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
        cut = node.temp(k.dtype, (1,))
        emit_binary(node, op, k, node.constant(np.int64(limit)), cut)
        k = cut
    edge = node.temp(k.dtype, (rows, 1))
    emit_binary(node, "add", node.constant(np.arange(rows)[:, None]), k, edge)
    mask = node.temp(BOOL, (rows, columns))
    emit_binary(node, comparison, node.constant(np.arange(columns)), edge, mask)
    return mask
