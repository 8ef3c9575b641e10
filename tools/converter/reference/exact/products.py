"""Add products of 8-bit integers without onnxruntime's integer kernels.

The code does not depend on the dtypes uint8 or int8, which a model need not state.
"""

from __future__ import annotations

import numpy as np

from .nodes import Nodes

# |x - x_zero| <= 255, |digit| <= 2 ** bits: that many products of them fit into float32's 24 bits
_MOST_PRODUCTS = 2**24 // 255
_MOST_WEIGHTS = _MOST_PRODUCTS // 2  # of one output, by digits of one bit
_BITS = 8


class Products:
    """Exact products in floats.

    Attributes:
        name: part of the names of added values.
    """

    name = "exact"

    def matmul(self, n: Nodes, a: str, a_zero: str, b: str, b_zero: str) -> str:
        """Add (a - a_zero) @ (b - b_zero) in int32; return the name of the result.

        Args:
            n: the Nodes.
            a: name of the first matrices.
            a_zero: name of its zero point, one element, or "".
            b: name of the second matrices (..., K, N).
            b_zero: name of zero points that broadcast with b, or "".
        """
        a = _centred(n, a, a_zero and n.scalar(a_zero), np.float64)
        b = _centred(n, b, b_zero, np.float64)
        sums = n.cast(n.add("MatMul", a, b), np.int64)
        # Sums wrap at 32 bits as in onnxruntime, which would merge two Casts in a row.
        return n.add("Identity", n.cast(n.add("Identity", sums), np.int32))

    def conv(self, n: Nodes, x: str, x_zero: str, w: str, w_zero: str) -> str:
        """Add the convolution of x - x_zero with w - w_zero in int32; return the result's name.

        It has the attributes of the replaced node that Conv knows.

        Args:
            n: the Nodes.
            x: name of the input.
            x_zero: name of its zero point, one element, or "".
            w: name of the weights.
            w_zero: name of one zero point, or one for each output channel, or "".
        """
        x = _centred(n, x, x_zero and n.scalar(x_zero), np.float32)
        reversed_w = n.add("Transpose", w)  # output channels last: w_zero broadcasts in any rank
        rest = n.add("Transpose", _centred(n, reversed_w, w_zero, np.float32))
        bits, sums = self._bits(n, w), ""
        for low in range(0, _BITS, bits):
            digit = rest
            if low + bits < _BITS:
                base = n.constant(np.float32(2**bits))
                rest = n.add("Floor", n.add("Div", rest, base))
                digit = n.add("Sub", digit, n.add("Mul", rest, base))
            names = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}
            attributes = [a for a in n.node.attribute if a.name in names]
            part = n.cast(n.add("Conv", x, digit, attributes=attributes), np.int32)
            if low:
                part = n.add("Mul", part, n.constant(np.int32(2**low)))
            sums = n.add("Add", sums, part) if sums else part
        return sums

    def _bits(self, n, w):
        """Return the largest number of bits of a digit for which sums fit into float32."""
        shape = n.shapes.of(w)
        if shape is None:
            raise n.inexact("the model does not state the shape of its weights")
        count = int(np.prod(shape[1:]))
        if count > _MOST_WEIGHTS:
            raise n.inexact(f"{count:,} products of one output, {_MOST_WEIGHTS:,} is the most")
        return min(_BITS, int(np.log2(_MOST_PRODUCTS / max(count, 1))))

    def weights(self, n: Nodes, w: str, zero: str) -> tuple[str, str]:
        """Return weights and zero point as uint8, shifted so that differences stay the same."""
        shift = n.add("Neg", least_of(n, w))
        zero = zero or n.constant(np.zeros(1, np.int32))
        shifted = (n.add("Add", n.cast(value, np.int32), shift) for value in (w, zero))
        w, zero = (n.cast(value, np.uint8) for value in shifted)
        return w, zero


def least_of(n: Nodes, x: str) -> str:
    """Return the smallest value of x's dtype, -128 or 0, as int32 ()."""
    flat = n.add("Reshape", x, n.constant(np.array([-1])))
    one = n.add("Gather", flat, n.constant(np.int64(0)))
    return n.cast(n.quantize(n.constant(np.float32(-1000)), one), np.int32)


def _centred(n, x, zero, dtype):
    x = n.cast(x, dtype)
    return n.add("Sub", x, n.cast(zero, dtype)) if zero else x
