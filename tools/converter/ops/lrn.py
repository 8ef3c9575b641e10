"""LRN -> means along the channels and elementwise steps."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from . import lowers
from ._elementwise import emit_binary
from ._means import emit_window_means
from ._powers import emit_power
from ._windows import Windows

FLOATS = (1, 11)
_MOST_SIZE = 1 << 16  # channels


@lowers("LRN")
def lower_lrn(node):
    """x / (bias + alpha / size * (sum of x * x over `size` channels)) ** beta

    The sum over the channels around each, divided by size, is an average pool along them that
    counts its padding.
    """
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    n, channels = x.shape[:2]
    items, size = math.prod(x.shape[2:]), node.attr("size")
    if not 0 < size <= _MOST_SIZE:
        raise Problem(f"size {size}")
    before = (size - 1) // 2
    square, mean, scaled, shifted, power = (node.temp(x.dtype, x.shape) for _ in range(5))
    emit_binary(node, "mul", x, x, square)
    dims, ones, pads = [1, channels, items], [1, 1, 1], ([0, before, 0], [0, size - 1 - before, 0])
    windows = Windows(dims, [1, size, 1], dims, ones, ones, *pads)
    planes = [node.reshaped(t, (n, *dims)) for t in (square, mean)]
    if not emit_window_means(node, *planes, windows, True):
        params = {"planes": n, **windows.named, "end_pads": windows.end_pads}
        node.emit("average_pool", [square], [mean], counts_padding=1, power=0, **params)
    beta = node.attr("beta", 0.75)
    for op, a, value, target in (
        ("mul", mean, node.attr("alpha", 1e-4), scaled),
        ("add", scaled, node.attr("bias", 1.0), shifted),
    ):
        emit_binary(node, op, a, node.constant(np.asarray(value, x.np_dtype)), target)
    if not emit_power(node, shifted, beta, power):
        emit_binary(node, "pow", shifted, node.constant(np.asarray(beta, x.np_dtype)), power)
    emit_binary(node, "div", x, power, out)
