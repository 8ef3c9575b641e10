"""What the kernels for float32 do not serve in float64: FusedMatMul, CDist."""

from __future__ import annotations

from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("FusedMatMul", inputs="A B")
def matmul(b: Body):
    """alpha * MatMul(A, B), the operands transposed first."""
    if b.dtype("A") != TensorProto.DOUBLE:
        return None
    y = b.add("MatMul", *(_transposed(b, name) for name in "AB"))
    return b.add("Mul", y, b.const(b.attr("alpha", 1.0), TensorProto.DOUBLE))


def _transposed(b, name):
    """transBatch moves the first axis behind the batch's; trans then swaps the last two."""
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
    """Of all rows of A and of B."""
    if b.dtype("A") != TensorProto.DOUBLE:
        return None
    metric = b.attr("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise Problem(f"metric {metric}")
    apart = b.add("Sub", b.unsqueeze("A", 1), b.unsqueeze("B", 0))
    squares = b.sum(b.add("Mul", apart, apart), 2, keepdims=0)
    return squares if metric == "sqeuclidean" else b.add("Sqrt", squares)
