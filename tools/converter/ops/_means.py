"""Means of float32 as products with equal weights, in block floating point: no boxed floats.

A Cortex-M3 takes 6,000 instructions for a row, and 155 to 204 for each element in kernel reduce.
"""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ._block import is_block
from ._dtypes import FLOAT
from ._elementwise import emit_binary
from ._move import emit_move, strides_of
from ._windows import Windows, counts_of
from .conv import Convolution, emit_conv
from .gemm import emit_gemm

_MAX_MOVED = 1 << 14  # elements
_FEW = 16  # up to so many elements are added up faster than a product is set up


def emit_mean(node, x: Tensor, out: Tensor, outer: int, n: int, inner: int = 1) -> bool:
    """Emit out = the means over n of x (outer, n, inner); return False if block_gemm cannot.

    If inner > 1, the elements of a line are first made contiguous, unless they are too many.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        outer: number of lines before.
        n: elements of a line.
        inner: distance of its elements.
    """
    if any_open((outer, n, inner)) or n == 0 or (n <= _FEW and x.dtype == FLOAT):
        return False
    if inner != 1 and (x.nelem > _MAX_MOVED or x.dtype != FLOAT or not node.is_exact):
        return False
    if inner != 1:
        dims = outer, inner, n
        rows = node.temp(x.dtype, dims)
        emit_move(node.emit, x, rows, dims, (inner * n, 1, inner), strides_of(dims))
        return emit_mean(node, rows, out, outer * inner, n)
    w = node.constant(np.full((1, n), 1 / n, np.float32))
    if not is_block(node, x, w, n):
        return False
    emit_gemm(node, x, w, out, (1, 1, outer, 1, n), False, (0, 0, 0, 0))
    node.steps[-1].macs = 0  # nominal ones are those of the model's products
    return True


def emit_window_means(node, x: Tensor, out: Tensor, windows: Windows, padding: bool) -> bool:
    """Emit out = the means of windows of each plane; return False if block_conv cannot.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        windows: its Windows.
        padding: True if zeros of the padding count as elements. Otherwise the sum of a window that
            reaches into the padding is divided by the number of elements inside, axis by axis.
    """
    planes = math.prod(x.shape[:2])
    if any_open((*x.shape, *out.shape)) or 0 in out.shape:
        return False
    counts = [counts_of(windows, dim, padding) for dim in range(3)]
    if any((c == 0).any() for c in counts):
        return False
    known = math.prod(int(c[0]) for c in counts if (c == c[0]).all())
    k = math.prod(windows.kernel)
    w = node.constant(np.full((1, k), 1 / known, np.float32))
    image = node.reshaped(x, (planes, 1, *windows.in_dims))
    if not is_block(node, image, w, k):
        return False
    shape = (planes, 1, *windows.out_dims)
    parts = [(dim, c) for dim, c in enumerate(counts) if (c != c[0]).any()]
    target = node.temp(x.dtype, shape) if parts else out
    emit_conv(node, image, w, Convolution(windows, 1, False, shape, strides_of(shape)), target)
    node.steps[-1].macs = 0
    for i, (dim, count) in enumerate(parts):
        last = i == len(parts) - 1
        divided = node.reshaped(out, shape) if last else node.temp(x.dtype, shape)
        dims = [-1 if d == dim else 1 for d in range(3)]
        shares = node.constant((1 / count).astype(np.float32).reshape(dims))
        emit_binary(node, "mul", target, shares, divided)
        target = divided
    return True
