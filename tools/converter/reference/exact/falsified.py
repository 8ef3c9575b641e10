"""Falsify products as x86 without VNNI does, to test that nothing depends on MLAS.

With MPCONNXR_ORT=falsified the worker gives every model that it opens such products. A model whose
outputs are then wrong still leaves a product of 8-bit integers to onnxruntime.
"""

from __future__ import annotations

import numpy as np

from .nodes import Nodes
from .products import Products, least_of

_BEYOND_ALL = 2.0**52


class Falsified(Products):
    """Products that saturate at 16 bits if one factor is uint8 and the other one int8."""

    name = "falsified"

    def matmul(self, n: Nodes, a: str, a_zero: str, b: str, b_zero: str) -> str:
        """Add products by pairs that saturate in 16 bits, as vpmaddubsw does."""
        exact = super().matmul(n, a, a_zero, b, b_zero)
        high = _limit(n, a, b)
        pairs = ""
        for first in (0, 1):
            a_half = _axes(n, "Unsqueeze", _every_second(n, a, -1, first), -1)
            b_half = _axes(n, "Unsqueeze", _every_second(n, b, -2, first), -3)
            products = n.add("Mul", a_half, b_half)
            pairs = n.add("Add", pairs, products) if pairs else products
        lost = n.add("Sub", _clipped(n, pairs, high), pairs)
        error = n.cast(_axes(n, "ReduceSum", lost, -2, keepdims=0), np.int32)
        return n.add("Add", exact, error)

    def conv(self, n: Nodes, x: str, x_zero: str, w: str, w_zero: str) -> str:
        """Add a convolution whose sums saturate as a whole, a larger error than vpmaddubsw's."""
        sums = super().conv(n, x, x_zero, w, w_zero)
        # onnxruntime's ConvInteger multiplies the weights by the image, QLinearConv the other way
        factors = (w, x) if n.node.op_type == "ConvInteger" else (x, w)
        clipped = _clipped(n, n.cast(sums, np.float64), _limit(n, *factors))
        return n.cast(clipped, np.int32)

    def weights(self, n: Nodes, w: str, zero: str) -> tuple[str, str]:
        """Return uint8 weights; weights that were int8 are at most 63."""
        is_signed = n.add("Less", least_of(n, w), n.constant(np.int32(0)))
        w, zero = super().weights(n, w, zero)
        high = n.add("Where", is_signed, *(n.constant(np.int32(v)) for v in (128 + 63, 255)))
        return n.cast(n.add("Min", n.cast(w, np.int32), high), np.uint8), zero


def _limit(n, first, second):
    """Return the largest possible sum: 32767 if the first factor is uint8 and the second int8."""
    sums = n.add("Sub", least_of(n, second), least_of(n, first))
    is_mixed = n.add("Equal", sums, n.constant(np.int32(-128)))
    return n.add("Where", is_mixed, *(n.constant(np.float64(v)) for v in (32767, _BEYOND_ALL)))


def _clipped(n, x, high):
    low = n.add("Sub", n.constant(np.float64(-1)), high)
    return n.add("Min", n.add("Max", x, low), high)


def _every_second(n, x, axis, first):
    """Return the elements first, first + 2, ... along an axis that gets two zeros at its end."""
    x = n.cast(x, np.float64)
    column = n.add("Slice", x, *(n.constant(np.array([v])) for v in (0, 1, axis)))
    zero = n.add("Mul", column, n.constant(np.float64(0)))
    x = n.add("Concat", x, zero, zero, axis=axis)
    bounds = (first, first - 1 or 2**31, axis, 2)
    return n.add("Slice", x, *(n.constant(np.array([v])) for v in bounds))


def _axes(n, op, x, axis, **attributes):
    if n.version < 13:
        return n.add(op, x, axes=[axis], **attributes)
    return n.add(op, x, n.constant(np.array([axis])), **attributes)
