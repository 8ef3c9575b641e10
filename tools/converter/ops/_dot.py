"""Weights as contiguous rows with a bias behind each, for the dot products of float kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ._move import emit_move, strides_of


def pack_rows(
    node, w: Tensor, rows: Sequence[int], cols: Sequence[int], bias: Tensor | None, scale=1.0
):
    """Return w as a matrix with the bias at the end of each row, in w's dtype.

    The matrix is made at conversion if w and bias are known, else by moves.

    Args:
        node: the node to lower.
        w: weights of any rank.
        rows: axes of w that form the rows, in order; ~axis for a reversed one.
        cols: axes of w that form the columns, likewise.
        bias: one value for each row, or None.
        scale: a factor of w; other than 1 only if w is known.
    """
    if scale != 1.0:
        w = node.constant((w.data * np.float32(scale)).astype(w.np_dtype))
    n_rows = math.prod(_size(w, a) for a in rows)
    n_cols = math.prod(_size(w, a) for a in cols)
    if w.data is not None and (bias is None or bias.data is not None):
        flipped = [a if a >= 0 else ~a for a in [*rows, *cols] if a < 0]
        data = np.flip(w.data, flipped).transpose([a if a >= 0 else ~a for a in [*rows, *cols]])
        data = data.reshape(n_rows, n_cols)
        if bias is not None:
            data = np.concatenate([data, bias.data.reshape(n_rows, 1)], axis=1)
        return node.constant(data.astype(w.np_dtype))
    width = n_cols + (bias is not None)
    packed = node.temp(w.dtype, (n_rows, width))
    w_strides, first = _signed_strides(w, [*rows, *cols])
    row_strides = [s * width for s in strides_of([_size(w, a) for a in rows])]
    out_strides = row_strides + strides_of([_size(w, a) for a in cols])
    dims = [_size(w, a) for a in [*rows, *cols]]
    emit_move(node.emit, w, packed, dims, w_strides, out_strides, first)
    if bias is not None:
        emit_move(node.emit, bias, packed, [n_rows], [1], [width], 0, n_cols)
    return packed


def _size(w, axis):
    return w.shape[axis if axis >= 0 else ~axis]


def _signed_strides(w, axes):
    plain = strides_of(w.shape)
    first = sum((w.shape[~a] - 1) * plain[~a] for a in axes if a < 0)
    return [plain[a] if a >= 0 else -plain[~a] for a in axes], first
