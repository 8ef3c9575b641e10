"""Sums of picked columns become Gemm."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

# y = [a - b + 1, a + c, -b - c, a + b + c], a to c: columns 0, 2 and 3 of x
PICKED = [node("Gather", f"x i{k}", name, axis=1) for k, name in ((0, "a"), (2, "b"), (3, "c"))]
SUMS = [
    node("Neg", "b", "b_neg"),
    node("Sum", "a b_neg one", "s0"),
    node("Add", "a c", "s1"),
    node("Sub", "b_neg c", "s2"),
    node("Add", "a b", "ab"),
    node("Add", "ab c", "s3"),
    node("Concat", "s0 s1 s2 s3", "y", axis=1),
]
INDICES = {f"i{k}": np.array([k]) for k in range(4)} | {"one": np.float32([1])}


def ops(nodes, x=None, **inputs):
    x = randn(2, 4) if x is None else x
    return Case(nodes, {"x": x, **inputs}, INDICES).rewritten()


@pytest.mark.parametrize("rows", [1, 5])
def test_sums_of_picked_columns_become_gemm(rows):
    assert ops([*PICKED, *SUMS], randn(rows, 4)) == {"Gemm": 1}


def test_short_sums_stay():
    """The nodes are no larger than the weights of a product would be."""
    nodes = [*PICKED[:2], node("Add", "a b", "s"), node("Concat", "s a", "y", axis=1)]
    assert "Gemm" not in ops(nodes)


@pytest.mark.parametrize(
    "replaced",
    [
        node("Mul", "a c", "s1"),
        node("Concat", "a c", "s1", axis=1),
    ],
)
def test_other_patterns_stay(replaced):
    assert "Gemm" not in ops([*PICKED, *SUMS[:2], replaced, *SUMS[3:]])


def test_columns_of_several_matrices_stay():
    nodes = [*PICKED[:2], node("Gather", "z i3", "c", axis=1), *SUMS]
    assert "Gemm" not in ops(nodes, z=randn(2, 4, seed=1))


def test_float64_sums_stay():
    x = randn(2, 4).astype(np.float64)
    indices = INDICES | {"one": np.float64([1])}
    assert "Gemm" not in Case([*PICKED, *SUMS], {"x": x}, indices).rewritten()
