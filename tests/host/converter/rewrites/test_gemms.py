"""MatMul and Add become Gemm."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

LAYER = [node("MatMul", "x w", "a"), node("Add", "a c", "y")]


def ops(x, w, c, nodes=LAYER, **kwargs):
    return Case(nodes, {"x": x, **kwargs}, {"w": w, "c": c}).rewritten()


@pytest.mark.parametrize("c", [randn(4), randn(1, 4)])
def test_a_matrix_product_with_a_row_becomes_gemm(c):
    assert ops(randn(3, 5), randn(5, 4), c) == {"Gemm": 1}


def test_the_row_may_come_first():
    nodes = [LAYER[0], node("Add", "c a", "y")]
    assert ops(randn(3, 5), randn(5, 4), randn(4), nodes) == {"Gemm": 1}


@pytest.mark.parametrize("shape", [(1, 3, 5), (2, 3, 5), (2, 2, 3, 5)])
def test_more_dims_are_reshaped(shape):
    assert ops(randn(*shape), randn(5, 4), randn(4)) == {"Gemm": 1, "Reshape": 2}


def test_consecutive_layers_are_reshaped_once():
    nodes = [*LAYER[:1], node("Add", "a c", "d"), node("Relu", "d", "e")]
    nodes += [node("MatMul", "e w", "f"), node("Add", "f c", "y")]
    result = ops(randn(2, 3, 4), randn(4, 4), randn(4), nodes)
    assert result == {"FusedGemm": 1, "Gemm": 1, "Reshape": 2}


@pytest.mark.parametrize(
    ("x", "w", "c"),
    [
        (randn(1, 2, 5), randn(5, 4), randn(2, 4)),  # another row each time
        (randn(1, 1, 5), randn(5, 4), randn(3, 1, 1, 4)),  # the sum is larger
        (randn(1, 2, 5), randn(1, 5, 4), randn(4)),  # a batch of weights
        (randn(5), randn(5), randn()),  # a product of vectors has no channels
    ],
)
def test_products_that_do_not_fit_stay(x, w, c):
    assert ops(x, w, c) == {"MatMul": 1, "Add": 1}


def test_a_product_with_other_readers_stays():
    nodes = [LAYER[0], node("Add", "a c", "d"), node("Softmax", "a", "e"), node("Sub", "d e", "y")]
    assert ops(randn(1, 3, 5), randn(5, 4), randn(4), nodes)["MatMul"] == 1


def test_float16_is_not_changed():
    half = [v.astype(np.float16) for v in (randn(3, 5), randn(5, 4), randn(4))]
    assert ops(*half) == {"MatMul": 1, "Add": 1}
