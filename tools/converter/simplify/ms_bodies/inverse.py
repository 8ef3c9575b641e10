"""Inverse matrices, by Gauss-Jordan elimination with the largest pivot of each column."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands

_MOST = 32  # columns: each takes a dozen nodes


@expands("Inverse", inputs="X", oldest=13)
def inverse(b: Body):
    """Y of X (.., n, n): [X | 1] becomes [P | Y'], where P is a permutation, and Y is P^T Y'.

    Rows never change places, which would need indices: a mask says which row is a column's pivot.
    A singular matrix gives inf and nan, as in onnxruntime, but at other places.
    """
    *batch, rows, n = b.shape("X")
    if rows != n or not 0 < n <= _MOST:
        raise Problem(f"a matrix of {rows} x {n}: square ones of up to {_MOST} are supported")
    dtype = TensorProto.DOUBLE if b.dtype("X") == TensorProto.DOUBLE else TensorProto.FLOAT
    x = b.reshape("X" if dtype == TensorProto.DOUBLE else b.wide("X"), -1, n, n)
    count = int(np.prod(batch))
    left = b.add("Concat", x, b.const(np.broadcast_to(np.eye(n), (count, n, n)), dtype), axis=2)
    number = b.ints(*range(n))
    is_used, pivots = None, []
    for k in range(n):
        column = b.slice(left, k, k + 1, 2)
        size = b.squeeze(b.add("Abs", column), 2)
        if is_used is not None:
            size = b.add("Where", is_used, b.const(-1, dtype), size)
        best = b.add("ArgMax", size, axis=1, keepdims=1)
        is_pivot = b.add("Equal", best, number)
        here = b.unsqueeze(is_pivot, 2)
        row = b.sum(b.add("Where", here, left, b.const(0, dtype)), 1)
        row = b.add("Div", row, b.slice(row, k, k + 1, 2))
        rest = b.add("Sub", left, b.add("Mul", column, row))
        left = b.add("Where", here, row, rest)
        is_used = is_pivot if is_used is None else b.add("Or", is_used, is_pivot)
        pivots.append(b.unsqueeze(b.cast(is_pivot, dtype), 1))
    y = b.add("MatMul", b.concat(pivots, 1), b.slice(left, n, 2 * n, 2))
    y = b.reshape(y, *batch, n, n)
    return y if dtype == TensorProto.DOUBLE else b.narrow(y, "X")
