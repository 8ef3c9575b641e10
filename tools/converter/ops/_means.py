"""Means of float32 as products with equal weights, in block floating point: no boxed floats."""

from __future__ import annotations

import math

import numpy as np

from ..extent import any_open
from ..ir import Tensor
from ._block import is_block
from ._move import emit_move, strides_of
from ._windows import Windows
from .conv import Convolution, emit_conv
from .gemm import emit_gemm

FLOAT = 1
_MOST_MOVED = 1 << 14  # items


def emit_mean(node, x: Tensor, out: Tensor, outer: int, n: int, inner: int = 1) -> bool:
    """out = the means over n of (outer, n, inner); False if that is not for block_gemm.

    With inner != 1 items of a row are brought together first, where these are not too many.
    """
    if any_open((outer, n, inner)) or n == 0:
        return False
    if inner != 1 and (x.nelem > _MOST_MOVED or x.dtype != FLOAT or not node.is_exact):
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


def emit_window_means(node, x: Tensor, out: Tensor, windows: Windows) -> bool:
    """out = the means of windows of each plane; False if one reaches out of it, or as above."""
    planes, k = math.prod(x.shape[:2]), math.prod(windows.kernel)
    sizes = zip(
        windows.in_dims, windows.kernel, windows.out_dims, windows.strides, windows.dilations,
        strict=True,
    )  # fmt: skip
    if any_open((*x.shape, *out.shape)) or any(windows.pads):
        return False
    if any((o - 1) * s + (taps - 1) * d >= size for size, taps, o, s, d in sizes):
        return False
    w = node.constant(np.full((1, k), 1 / k, np.float32))
    image = node.reshaped(x, (planes, 1, *windows.in_dims))
    if not is_block(node, image, w, k):
        return False
    shape = (planes, 1, *windows.out_dims)
    emit_conv(node, image, w, Convolution(windows, 1, False, shape, strides_of(shape)), out)
    node.steps[-1].macs = 0
    return True
