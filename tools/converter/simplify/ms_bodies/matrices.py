"""Expand products of matrices that are quantized or float64, distances, and inverses."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands

_MOST = 32  # columns: each takes a dozen nodes


@expands("DynamicQuantizeMatMul", inputs="A B b_scale b_zero_point bias", oldest=11)
def dynamic_quantize_matmul(b: Body):
    """Quantize A as a whole in the run, then multiply integers."""
    q, scale, zero = b.add("DynamicQuantizeLinear", "A", n=3)
    product = b.add("MatMulInteger", q, "B", zero, b.optional("b_zero_point"))
    return _scaled(b, product, scale)


@expands(
    "MatMulIntegerToFloat",
    inputs="A B a_scale b_scale a_zero_point b_zero_point bias",
    oldest=11,
)
def matmul_integer_to_float(b: Body):
    """Expand MatMulIntegerToFloat: an integer product, times the product of both scales."""
    zeros = b.optional("a_zero_point"), b.optional("b_zero_point")
    return _scaled(b, b.add("MatMulInteger", "A", "B", *zeros), "a_scale")


def _scaled(b, product, a_scale):
    real = b.add("Cast", product, to=TensorProto.FLOAT)
    y = b.add("Mul", real, b.add("Mul", a_scale, "b_scale"))
    return b.add("Add", y, "bias") if b.has("bias") else y


@expands("FusedMatMul", inputs="A B")
def fused_matmul(b: Body):
    """Compute alpha * MatMul(A, B) of transposed operands in float64; kernels serve float32."""
    if b.dtype("A") != TensorProto.DOUBLE:
        return None
    y = b.add("MatMul", *(_transposed(b, name) for name in "AB"))
    return b.add("Mul", y, b.const(b.attr("alpha", 1.0), TensorProto.DOUBLE))


def _transposed(b, name):
    """Transpose an operand as its attributes trans and transBatch say.

    transBatch moves the first axis behind the other batch axes; trans then swaps the last two.
    """
    rank = b.rank(name)
    axes = list(range(rank))
    if b.attr(f"transBatch{name}") and rank > 1:
        if rank < 3:
            raise Problem(f"transBatch{name} of {rank} dimensions")
        axes = [*axes[1:-1], 0, axes[-1]]
    if b.attr(f"trans{name}") and rank > 1:
        axes[-2:] = axes[:-3:-1]
    return name if axes == sorted(axes) else b.transpose(name, *axes)


@expands("CDist", inputs="A B", outputs="C")
def distances(b: Body):
    """Compute the distances of all rows of A and B in float64; a kernel serves float32."""
    if b.dtype("A") != TensorProto.DOUBLE:
        return None
    metric = b.attr("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise Problem(f"metric {metric}")
    apart = b.add("Sub", b.unsqueeze("A", 1), b.unsqueeze("B", 0))
    squares = b.sum(b.add("Mul", apart, apart), 2, keepdims=0)
    return squares if metric == "sqeuclidean" else b.add("Sqrt", squares)


@expands("Inverse", inputs="X", oldest=13)
def inverse(b: Body):
    """Invert matrices (.., n, n) by Gauss-Jordan elimination with the largest pivot of a column.

    [X | 1] becomes [P | Y'], where P is a permutation and the inverse is P^T Y'. Rows keep their
    positions, since swaps would need indices: a mask says which row is a column's pivot. A
    singular matrix gives inf and nan as in onnxruntime, but at other positions.
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
