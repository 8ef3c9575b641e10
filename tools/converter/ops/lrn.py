"""LRN -> kernels average_pool and binary."""

from __future__ import annotations

import math

import numpy as np

from . import lowers
from ._elementwise import emit_binary

FLOATS = (1, 11)


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
    before = (size - 1) // 2
    square, mean, scaled, shifted, power = (node.temp(x.dtype, x.shape) for _ in range(5))
    emit_binary(node, "mul", x, x, square)
    dims, kernel = [1, channels, items], [1, size, 1]
    params = [n, *dims, *kernel, *dims, 1, 1, 1, 1, 1, 1]
    params += [0, before, 0, 0, size - 1 - before, 0, 1, 0]
    node.emit("average_pool", [square], [mean], params)
    for op, a, name, default, target in (
        ("mul", mean, "alpha", 1e-4, scaled),
        ("add", scaled, "bias", 1.0, shifted),
        ("pow", shifted, "beta", 0.75, power),
    ):
        value = np.asarray(node.attr(name, default), x.np_dtype)
        emit_binary(node, op, a, node.constant(value), target)
    emit_binary(node, "div", x, power, out)
